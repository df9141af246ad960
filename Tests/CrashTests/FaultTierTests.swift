import LogStore
import LogStoreTesting
import Testing

@testable import CrashHarness

/// A slice of each part of tier 1, and what it has found.
@Suite struct FaultTierTests {
  private func holds(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let violation = try FaultTier().replay(text)
    #expect(violation == nil, "\(text): \(violation?.what ?? "")", sourceLocation: sourceLocation)
  }

  @Test(arguments: ["open", "carried", "kept", "lost", "application"])
  func someFlippedBitsGiveExactDataOrAReport(page name: String) throws {
    let page = try #require(try Corpus.page(name, seed: 1))
    for file in page.names {
      for bit in stride(from: 0, to: 8 * (page.files[file]?.count ?? 0), by: 397) {
        try holds("flips 1 \(name) \(file) \(bit)")
      }
      for length in stride(from: 0, to: page.files[file]?.count ?? 0, by: 53) {
        try holds("cuts 1 \(name) \(file) \(length)")
      }
    }
  }

  /// A header says nothing that other places do not say as well, where there is one.
  @Test func aHeaderThatOthersTellIsMadeGood() throws {
    var told = 0
    for page in try Corpus(seed: 1).pages {
      for file in page.names where file.hasSuffix(".journal") {
        for bit in stride(from: 0, to: 8 * 128, by: 149) {
          if Reach(.flip(bit, of: file, in: page.files), page).hitsToldHeader { told += 1 }
          try holds("flips 1 \(page.name) \(file) \(bit)")
        }
      }
    }
    #expect(told > 125)
  }

  /// Of so many cases one is gone on with: the same ones whatever the seed, every corpus had the same holes.
  @Test func whichCasesAreGoneOnWithTheSeedDecides() throws {
    for portion in [0, 1, 77] {
      let firsts = Set((UInt64(1)...600).map { DamageSweep.firstAftermath(portion, seed: $0, every: 61) })
      #expect(firsts == Set(0..<61))
    }
    #expect(Set((0..<600).map { DamageSweep.firstAftermath($0, seed: 1, every: 61) }) == Set(0..<61))
    let corpus = try Corpus(seed: 1)
    let portions = Array(DamageParts.cuts(corpus, 1).prefix(3))
    let tally = Tally()
    let sweep = DamageSweep("t1 cuts", corpus, seed: 1, aftermathEvery: 8, tally)
    sweep.run(portions, Plan(.ci, seed: 1, workers: 1))
    #expect(tally.violations.isEmpty)
    let expected = portions.enumerated().reduce(0) { sum, portion in
      let first = DamageSweep.firstAftermath(portion.offset, seed: 1, every: 8)
      return sum + stride(from: first, to: portion.element.count, by: 8).reduce(0) { count, _ in count + 1 }
    }
    #expect(sweep.goneOnWith == expected && expected > 10)
  }

  @Test(arguments: DamageCase.Sector.allCases)
  func someWrongSectorsGiveExactDataOrAReport(sector: DamageCase.Sector) throws {
    let page = try #require(try Corpus.page("kept", seed: 1))
    let places = SectorDamage(page: page, size: 512, seed: 1).places
    for (index, place) in places.enumerated() {
      let other = sector.needsAnother ? places[(index + 3) % places.count] : nil
      let one = DamageCase(seed: 1, page: "kept", kind: .sector(sector, size: 512, place, other: other))
      if one.damage(page) != nil { try holds("\(one)") }
    }
  }

  @Test(arguments: FaultWay.allCases)
  func someCallsThatFailCostNothingThatWasAcknowledged(way: FaultWay) throws {
    for session in FaultSession.all {
      for place in stride(from: 2, to: 60, by: 37) {
        let one = FaultCase(session: session.name, way: way, place: place, isRepeating: way.canRepeat && place % 2 == 1)
        let outcome = try one.run()
        #expect(outcome.problem == nil, "\(one): \(outcome.problem ?? "")")
      }
    }
  }

  /// Of a newest journal that was gone, nothing stayed on record; of one that was cut, less than had been lost.
  @Test func aFileThatIsGoneIsToldOrIsNotNeeded() throws {
    for page in try Corpus(seed: 1).pages {
      for file in page.names {
        try holds("removed 1 \(page.name) \(file)")
        if file.hasSuffix(".journal") { try holds("cuts 1 \(page.name) \(file) 0") }
      }
    }
  }

  /// One bit of a length led the search for where to go on over seven batches that verify.
  @Test func aWrongLengthLosesItsOwnBatchOnly() throws { try holds("flips 1 open 0000000000.journal 2160") }

  /// One bit of a length led the search over the mark that said that what it hid had been durable.
  @Test func aWrongLengthHidesNoMark() throws { try holds("flips 1 open 0000000000.journal 6062") }

  /// Salvage and verify missed what a newest journal that ends behind a frame, in front of its initial length, lacks.
  @Test func salvageTellsOfAnEndThatIsMissing() throws {
    try holds("cuts 2026 long-values 0000000002.journal 165")
  }

  /// A newest journal that is cut inside its header was said to be cut off once, and never again.
  @Test func whatAGapTakesStaysOnRecord() throws {
    try holds("cuts 1 carried 0000000001.journal 3")
    try holds("cuts 1 kept-open 0000000001.journal 47")
  }

  /// A mark that came along with another journal's sector gave the lost header that journal's salt.
  @Test func aMisdirectedSectorGivesNoHeaderItsSalt() throws {
    try holds("sectors 1 carried copied 512 0000000000.journal 0 0000000001.journal 0")
    try holds("sectors 1 long-values copied 4096 0000000000.journal 0 0000000002.journal 0")
  }

  /// A read error on the way to the kept generation was taken for its absence, and the records for damaged.
  @Test func aReadErrorInTheKeptGenerationIsNoDamage() throws {
    for place in 30..<60 { try holds("calls heal inputOutput \(place) once") }
  }
}
