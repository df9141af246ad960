import LogStoreTesting

/// Examines plays: what their threads see, and what crashes at each of their moments leave.
struct PlayExplorer {
  static let row = "t0 interleaved"
  private static let waysWithoutCrashes: UInt64 = 4

  var effort = Effort(profiles: [.strict], extent: CrashExtent(exhaustive: 64, samples: 16), limit: 12)
  private(set) var examination: Examination

  init(seen: DistinctStates?, check: @escaping @Sendable (Workload.Kind) -> StateCheck) {
    examination = Examination(seen: seen, effort)
    examination.check = check
  }

  /// Lets a play go one way, which a seed decides.
  mutating func explore(_ play: Play, schedule seed: UInt64) -> PlayFailure? {
    // What threads do to each other often shows while they run, which costs little beside the crashes: some more ways.
    for other in 1...PlayExplorer.waysWithoutCrashes {
      let run = PlayRun(play, schedule: seed ^ other << 40)
      if let problem = run.problem { return PlayFailure(what: problem, subject: PlayCase(run)) }
    }
    let run = PlayRun(play, schedule: seed)
    if let problem = run.problem { return PlayFailure(what: problem, subject: PlayCase(run)) }
    for moment in run.moments.indices {
      let known = [run.expectation(at: moment)]
      var objection = examination.kill(run.storage, moment, .records, known, row: PlayExplorer.row)
      for profile in effort.profiles where objection == nil {
        let states = run.storage.crashStates(at: moment, under: profile, extent: effort.extent)
        objection = examination.cut(states, limit: effort.limit, .records, known, row: PlayExplorer.row)
      }
      if let objection { return PlayFailure(what: objection.what, subject: PlayCase(run, objection.point)) }
    }
    return nil
  }

  /// Does a case again: the same calls in the same order.
  static func replay(_ subject: PlayCase, check: StateCheck) throws -> PlayFailure? {
    let run = PlayRun(subject.play, schedule: 1, following: subject.trace)
    if let problem = run.problem { return PlayFailure(what: problem, subject: subject) }
    guard let point = subject.point else { return nil }
    guard let state = run.storage.crashState(point.description) else {
      throw Replay.Fault(description: "no such state: \(point)")
    }
    let known = [run.expectation(at: point.moment)]
    return check.problem(with: state.storage(), known, point.kind, .full).map {
      PlayFailure(what: $0, subject: subject)
    }
  }
}
