/// The parts of the tier that damage bytes.
enum DamageParts {
  /// Every bit of every file of a corpus.
  static func flips(_ corpus: Corpus, _ seed: UInt64) -> [DamageSweep.Portion] {
    portions(corpus, each: 512) { page, name in
      let bits = 8 * (page.files[name]?.count ?? 0)
      return (bits, { DamageCase(seed: seed, page: page.name, kind: .flip(file: name, bit: $0)) })
    }
  }

  /// Every length that is less than a file's, and every file gone.
  static func cuts(_ corpus: Corpus, _ seed: UInt64) -> [DamageSweep.Portion] {
    portions(corpus, each: 64) { page, name in
      let count = page.files[name]?.count ?? 0
      return (
        count + 1,
        {
          DamageCase(
            seed: seed, page: page.name, kind: $0 < count ? .cut(file: name, length: $0) : .removed(file: name))
        }
      )
    }
  }

  /// Every sector in every wrong way.
  static func sectors(_ corpus: Corpus, _ seed: UInt64) -> [DamageSweep.Portion] {
    var found: [DamageSweep.Portion] = []
    for (index, page) in corpus.pages.enumerated() {
      for size in [512, 4096] {
        let places = SectorDamage(page: page, size: size, seed: seed).places
        for sector in DamageCase.Sector.allCases {
          var cases: [DamageCase] = []
          for place in places {
            let others: [DamageCase.Place?] = sector.needsAnother ? places.filter { $0 != place } : [nil]
            for other in others {
              cases.append(
                DamageCase(seed: seed, page: page.name, kind: .sector(sector, size: size, place, other: other)))
            }
          }
          let all = cases
          if !all.isEmpty { found.append(DamageSweep.Portion(page: index, cases: { all[$0] }, count: all.count)) }
        }
      }
    }
    return found
  }

  private static func portions(
    _ corpus: Corpus, each size: Int, _ body: (CorpusPage, String) -> (Int, @Sendable (Int) -> DamageCase)
  ) -> [DamageSweep.Portion] {
    var found: [DamageSweep.Portion] = []
    for (index, page) in corpus.pages.enumerated() {
      for name in page.names {
        let (count, make) = body(page, name)
        for start in stride(from: 0, to: count, by: size) {
          found.append(
            DamageSweep.Portion(page: index, cases: { make(start + $0) }, count: min(size, count - start)))
        }
      }
    }
    return found
  }

  /// Runs a case by its name; nil if it holds or names nothing.
  static func replay(_ text: String) throws -> Violation? {
    guard let one = DamageCase(text), let page = try Corpus.page(one.page, seed: one.seed),
      let damage = one.damage(page)
    else { throw Disagreement("no such case: \(text)") }
    var counts = [Int](repeating: 0, count: DamageExaminer.Verdict.allCases.count)
    let problem = DamageExamination(page, damage, try FrozenStorage(page)).run(&counts, withAftermath: true)
    return problem.map { Violation(what: $0, in: one) }
  }
}
