import LogStore
import LogStoreTesting

/// Runs a script, crashes after every call that changed something, and examines what is left, under each of several fates.
struct Exploration {
  var script: Script
  var seed: UInt64
  /// Seeded fates for each moment, besides dropping and keeping everything.
  var fates = 3
  /// How many crashes of each recovery and continuation are examined in turn.
  var nested = 0
  private(set) var states = 0

  init(_ script: Script, seed: UInt64, fates: Int = 3, nested: Int = 0) {
    self.script = script
    self.seed = seed
    self.fates = fates
    self.nested = nested
  }

  /// What went wrong; nil if nothing did.
  mutating func run() -> String? {
    let storage = SimulatedStorage(seed: seed)
    storage.recordMoments()
    let runner = ScriptRunner(storage)
    runner.run(script)
    if let problem = runner.problems.first { return report(problem, "while running") }
    var random = SeededRandom(seed: seed ^ 0xC0FFEE)
    for (moment, crash) in crashes(storage, &random) {
      let ledger = runner.ledger(at: moment)
      states += 1
      let left = storage.crash(crash, at: moment)
      let problems = CrashExaminer().examine(left, ledger, crash)
      if let problem = problems.first { return report(problem, place(storage, moment, crash)) }
      guard nested > 0 else { continue }
      if let problem = runNested(storage.crash(crash, at: moment), ledger.crashed(crash), &random) {
        return report(problem, place(storage, moment, crash))
      }
    }
    return nil
  }

  private func crashes(_ storage: SimulatedStorage, _ random: inout SeededRandom) -> [(Int, Crash)] {
    storage.moments.indices.flatMap { moment in
      ([.kill, .powerCut(.dropUnsynced), .powerCut(.keepAll)]
        + (0..<fates).map { _ in .powerCut(.seeded(random.next() % 1_000_000)) }).map { (moment, $0) }
    }
  }

  /// A crash during recovery, the start of a journal, a compaction, closing.
  private mutating func runNested(_ storage: SimulatedStorage, _ ledger: Ledger, _ random: inout SeededRandom)
    -> String?
  {
    storage.recordMoments()
    let runner = ScriptRunner(storage, ledger)
    let more = Script([
      .write([.put(Array("k1".utf8), Array("again".utf8))], .power), .compact(.none),
      .write([.remove(Array("k2".utf8)), .put(Array("k9".utf8), Array("more".utf8))], .process), .close,
    ])
    runner.run(more)
    if let problem = runner.problems.first { return "in the recovery: \(problem)" }
    let all = crashes(storage, &random)
    for (moment, crash) in all.shuffled(using: &random).prefix(nested) {
      states += 1
      let problems = CrashExaminer().examine(storage.crash(crash, at: moment), runner.ledger(at: moment), crash)
      if let problem = problems.first { return "in the recovery, " + place(storage, moment, crash) + ": " + problem }
    }
    return nil
  }

  private func place(_ storage: SimulatedStorage, _ moment: Int, _ crash: Crash) -> String {
    let calls = storage.moments[moment]
    let last = calls > 0 ? storage.calls[calls - 1].description : "the beginning"
    return "\(crash) at moment \(moment) (after \(last))"
  }

  private func report(_ problem: String, _ place: String) -> String {
    "\(problem)\n  \(place)\n  replay: seed \(seed), fates \(fates), nested \(nested), script: \(script)"
  }
}

extension ScriptRunner {
  /// The ledger that counts for a crash at a moment, before the next call that changes anything.
  func ledger(at moment: Int) -> Ledger {
    let moments = storage.moments
    let next = moment + 1 < moments.count ? moments[moment + 1] : .max
    return ledger(before: next)
  }
}
