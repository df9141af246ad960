import LogStoreTesting

/// Does a case again.
struct Replay {
  struct Fault: Error, CustomStringConvertible {
    var description: String
  }

  var check: @Sendable (Workload.Kind) -> StateCheck = { StateCheck(kind: $0) }

  /// What does not hold; nil if all does.
  func run(_ subject: CrashCase) throws -> Failure? {
    guard let first = subject.levels.first else { throw Fault(description: "a case has at least one workload") }
    var (disk, known) = Bases.disk(for: first.workload)
    for (number, level) in subject.levels.enumerated() {
      let run = WorkloadRun(level.workload, on: disk, known)
      if let problem = run.problems.first { return Failure(what: problem, subject: subject) }
      guard let point = level.point else { return nil }
      guard run.moments.indices.contains(point.moment) else {
        throw Fault(description: "the workload has \(run.moments.count) moments, not \(point.moment + 1)")
      }
      known = run.expectations(at: point.moment)
      guard let state = run.storage.crashState(point.description) else {
        throw Fault(description: "no such state: \(point)")
      }
      let left = state.storage()
      if number < subject.levels.count - 1 {
        disk = left
        known = known.map { $0.crashed(point.kind) }
      } else if let problem = check(level.workload.kind).problem(with: left, known, point.kind, .full) {
        return Failure(what: problem, subject: subject)
      }
    }
    return nil
  }
}
