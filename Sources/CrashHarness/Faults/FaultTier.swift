import Glibc

/// T1: every call fails, every bit flips, every file is cut, every sector is wrong, and the shipped command is killed and
/// refused at every system call.
struct FaultTier: Tier {
  static let name = "t1"
  static let summary = "failing calls, flipped bits, cut files, wrong sectors, the shipped command killed and refused"
  static let share = 1.0

  /// Where only some parts are wanted: `CRASH_T1=flips,cuts`.
  private static let chosen: Set<String>? = unsafe getenv("CRASH_T1").map {
    Set(unsafe String(cString: $0).split(separator: ",").map(String.init))
  }

  var parts = FaultTier.chosen ?? ["calls", "logctl", "short", "flips", "cuts", "sectors"]

  func run(_ plan: Plan, _ tally: Tally) throws {
    // The first three end by themselves; the rest of the time is for what has no end.
    if parts.contains("calls") { CallSweep(tally).run(plan.part(0.25)) }
    if parts.contains("logctl") { try LogctlSweep.run(plan.part(0.2), tally) }
    if parts.contains("short") { try ShortSweep.run(plan.part(0.05), tally) }
    if !parts.isDisjoint(with: ["flips", "cuts", "sectors"]) { try damage(plan.part(1), tally) }
  }

  private func damage(_ plan: Plan, _ tally: Tally) throws {
    var round: UInt64 = 0
    repeat {
      let seed = plan.seed + round
      let corpus = try Corpus(seed: seed)
      // In the order of their cost, so that a short run sees all kinds. A flip costs least: more corpora have them alone.
      let hasAll = round % 4 == 0 || !parts.contains("flips")
      if hasAll, parts.contains("sectors") {
        sweep("sectors", DamageParts.sectors(corpus, seed), corpus, seed, aftermathEvery: 1, plan, tally)
      }
      if hasAll, parts.contains("cuts") {
        sweep("cuts", DamageParts.cuts(corpus, seed), corpus, seed, aftermathEvery: plan.isCI ? 7 : 3, plan, tally)
      }
      if parts.contains("flips") {
        sweep("flips", DamageParts.flips(corpus, seed), corpus, seed, aftermathEvery: 61, plan, tally)
      }
      round += 1
    } while !plan.isCI && !plan.isOver
  }

  private func sweep(
    _ part: String, _ portions: [DamageSweep.Portion], _ corpus: Corpus, _ seed: UInt64, aftermathEvery: Int,
    _ plan: Plan, _ tally: Tally
  ) {
    let sweep = DamageSweep("t1 \(part)", corpus, seed: seed, aftermathEvery: aftermathEvery, tally)
    sweep.run(portions, plan)
    let outcomes = sweep.outcomes.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.key) \($0.value)" }
    CrashCommand.say(
      "t1 \(part), seed \(seed), \(corpus.bytes) bytes: openings \(outcomes.joined(separator: ", ")); gone on with "
        + "\(sweep.goneOnWith)")
  }

  func replay(_ text: String) throws -> Violation? {
    if let one = ShortCase(text) { return try ShortSweep.replay(one) }
    if let one = LogctlCase(text) { return try LogctlSweep.replay(one) }
    if let all = PlacesCase(text) {
      let wrong = try CallPlace.disagreements(CallPlace.reached())
      return wrong.isEmpty ? nil : Violation(what: wrong.joined(separator: ", "), in: all)
    }
    guard let one = FaultCase(text) else { return try DamageParts.replay(text) }
    return try one.run().problem.map { Violation(what: $0, in: one) }
  }
}
