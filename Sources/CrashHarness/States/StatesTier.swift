import Dispatch
import Glibc
import LogStoreTesting

/// T0: workloads on a simulated disk, and every state that a crash may leave of it.
struct StatesTier: Tier {
  static let name = "t0"
  static let summary = "states that a crash may leave, on a simulated disk, one by one"
  static let share = 2.4

  /// How the states are judged: another way only to test the tier itself.
  var check: @Sendable (Workload.Kind) -> StateCheck = { StateCheck(kind: $0) }
  /// `CRASH_T0=interleaved,nested` chooses some.
  var parts = Part.all.filter { StatesTier.chosen?.contains($0.name) ?? true }

  private static let chosen: [String]? = unsafe getenv("CRASH_T0").map {
    unsafe String(cString: $0).split(separator: ",").map(String.init)
  }

  init() {}

  func run(_ plan: Plan, _ tally: Tally) throws {
    let queue = PartQueue(parts, plan)
    let seen = DistinctStates()
    DispatchQueue.concurrentPerform(iterations: plan.workers) { _ in
      while let (part, number) = queue.next() {
        let start = ContinuousClock.now
        let (counts, found) = explore(part, number, plan, seen)
        let seconds = queue.done(part, since: start)
        note(counts, seconds, plan, tally)
        if let found {
          // One fault may show in thousands of workloads: the first few tell enough.
          tally.violation(queue.mayShrink() ? found.shrink() : found.violation, in: part.row ?? "t0 \(part.name)")
        }
      }
    }
  }

  private struct Found {
    var violation: Violation
    /// The same, made simpler.
    var shrink: () -> Violation
  }

  private func explore(_ part: Part, _ number: Int, _ plan: Plan, _ seen: DistinctStates) -> (
    counts: [String: Examination.Count], Found?
  ) {
    let check = check
    switch part.work(number, plan.seed) {
    case .workload(let workload, let last, let effort):
      var explorer = Explorer(effort, seen: seen, check: check)
      explorer.isOver = { plan.isOver }
      let failure = explorer.explore(workload, last: last, row: part.row)
      return (
        explorer.examination.counts,
        failure.map { failure in
          Found(violation: violation(failure)) { violation(Shrinker(check: check).shrink(failure)) }
        }
      )
    case .play(let play, let schedule):
      var explorer = PlayExplorer(seen: seen, check: check)
      let failure = explorer.explore(play, schedule: schedule)
      return (
        explorer.examination.counts,
        failure.map { failure in
          Found(violation: violation(failure)) { violation(PlayShrinker(check: check).shrink(failure)) }
        }
      )
    }
  }

  private func violation(_ failure: Failure) -> Violation {
    Violation(what: failure.what, in: failure.subject)
  }

  private func violation(_ failure: PlayFailure) -> Violation {
    Violation(what: failure.what, in: failure.subject)
  }

  /// A workload's time is shared out over its rows by their states.
  private func note(_ counts: [String: Examination.Count], _ seconds: Double, _ plan: Plan, _ tally: Tally) {
    let all = counts.values.reduce(0) { $0 + $1.states }
    for (row, count) in counts.sorted(by: { $0.key < $1.key }) {
      tally.add(
        row, states: count.states, distinct: count.distinct,
        work: .init(seconds: seconds * Double(count.states) / Double(max(all, 1)), of: plan.workers))
    }
  }

  func replay(_ text: String) throws -> Violation? {
    if let subject = PlayCase(text) {
      return try PlayExplorer.replay(subject, check: check(.records)).map(violation)
    }
    guard let subject = CrashCase(text) else { throw Replay.Fault(description: "not a case of t0: \(text)") }
    return try Replay(check: check).run(subject).map(violation)
  }
}
