import LogStore
import LogStoreTesting

/// One call that fails in one way in one session, and what is left of it after a crash.
struct FaultCase: Sendable, Replayable {
  static var tier: any Tier.Type { FaultTier.self }

  var session: String
  var way: FaultWay
  var place: Int
  var isRepeating: Bool
  /// Which steps of the session are done; nil: all.
  var steps: [Int]?

  var description: String {
    "calls \(session) \(way) \(place) \(isRepeating ? "on" : "once")"
      + (steps.map { " " + ($0.isEmpty ? "none" : $0.map(String.init).joined(separator: ",")) } ?? "")
  }

  init(session: String, way: FaultWay, place: Int, isRepeating: Bool) {
    self.session = session
    self.way = way
    self.place = place
    self.isRepeating = isRepeating
  }

  init?(_ text: String) {
    let words = text.split(separator: " ").map(String.init)
    guard words.count == 5 || words.count == 6, words[0] == "calls", let way = FaultWay(rawValue: words[2]),
      let place = Int(words[3])
    else { return nil }
    self.init(session: words[1], way: way, place: place, isRepeating: words[4] == "on")
    if words.count == 6 { steps = words[5].split(separator: ",").compactMap { Int($0) } }
  }

  struct Outcome {
    /// Whether there was such a call.
    var fired = false
    /// What is wrong; nil if nothing is.
    var problem: String?
    /// Crashes that were examined.
    var states = 0
    /// Where the system was called, and where calls failed because they were made to.
    var called: Set<CallPlace> = []
    var failed: Set<CallPlace> = []
  }

  static let crashes: [Crash] = [.kill, .powerCut(.dropUnsynced), .powerCut(.keepAll)]

  func run(crashes: [Crash] = FaultCase.crashes) throws -> Outcome {
    guard let session = FaultSession.all.first(where: { $0.name == session }) else {
      throw Disagreement("no such session: \(session)")
    }
    let start = try session.start()
    for fault in way.faults(after: place, repeating: isRepeating) { start.storage.fail(fault) }
    let runner = ScriptRunner(
      start.storage, start.ledger, on: session.kind, expecting: way.honest, cacheLies: way.cacheLies)
    runner.allowsDamage = session.allowsDamage
    let all = session.steps
    runner.run(steps.map { chosen in chosen.filter(all.indices.contains).map { all[$0] } } ?? all)
    var outcome = Outcome(fired: start.storage.faultHasFired, problem: runner.problems.first)
    let what = start.storage.firstFailure.map { "\($0)" } ?? "nothing"
    for call in start.storage.calls {
      let place = CallPlace(call)
      outcome.called.insert(place)
      if let errno = call.errno, way.errnos.contains(errno) { outcome.failed.insert(place) }
    }
    start.storage.heal()
    let last: [Crash] = crashes.isEmpty ? [] : [.powerCut(.seeded(UInt64(place)))]
    for crash in crashes + last where outcome.problem == nil {
      outcome.states += 1
      let examiner = CrashExaminer(allowsDamage: session.allowsDamage, kind: session.kind)
      outcome.problem = examiner.examine(start.storage.crash(crash), runner.ledger, crash).first.map {
        "after \(crash): \($0)"
      }
    }
    outcome.problem = outcome.problem.map { "\(what) failed: \($0)" }
    return outcome
  }

  /// What is wrong, whichever call it was that failed.
  private static func kind(_ problem: String) -> String {
    let parts = problem.split(separator: ":", maxSplits: 2).map { $0.filter { !$0.isNumber } }
    return parts.dropFirst().joined(separator: ":")
  }

  /// The same fault with as few steps as still show the same to be wrong.
  func shrunk(_ problem: String) -> FaultCase {
    let kind = FaultCase.kind(problem)
    guard let session = FaultSession.all.first(where: { $0.name == session }) else { return self }
    var best = self
    var kept = steps ?? Array(session.steps.indices)
    for step in kept.reversed() {
      var fewer = best
      fewer.steps = kept.filter { $0 != step }
      // With fewer steps in front of it, the call has a lower number.
      for place in stride(from: best.place, through: max(0, best.place - 40), by: -1) {
        fewer.place = place
        // A case that cannot be run at all shows nothing, and is no simpler one.
        guard let problem = try? fewer.run().problem, FaultCase.kind(problem) == kind else { continue }
        best = fewer
        kept = fewer.steps ?? kept
        break
      }
    }
    return best
  }
}
