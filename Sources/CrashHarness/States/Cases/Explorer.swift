import LogStoreTesting

/// A case that does not hold.
struct Failure {
  var what: String
  var subject: CrashCase
}

/// Examines what crashes leave of workloads, and of what is done after the crashes.
struct Explorer {
  let effort: Effort
  /// Whether to stop: asked before every moment.
  var isOver: () -> Bool = { false }
  /// What is done to a disk that a crash has left, by the depth of the crash; the usual variety where nothing is said.
  var follow: ((_ depth: Int, CrashPoint) -> Workload?)?
  private(set) var examination: Examination

  /// Where in the nesting a workload is.
  private struct Place {
    var levels: [CrashCase.Level] = []
    var row: String?
    var depth: Int { levels.count + 1 }
  }

  /// A state that may be gone on with.
  private struct Start {
    var state: CrashState
    var key: UInt64
  }

  init(_ effort: Effort, seen: DistinctStates?, check: (@Sendable (Workload.Kind) -> StateCheck)? = nil) {
    self.effort = effort
    examination = Examination(seen: seen, effort)
    if let check { examination.check = check }
  }

  /// Runs a workload, and examines the crashes in it; where `last` says so, only those in the steps from there on.
  mutating func explore(_ workload: Workload, last: Int = .max, row: String? = nil) -> Failure? {
    let (disk, known) = Bases.disk(for: workload)
    let run = WorkloadRun(workload, on: disk, known, last: last)
    return explore(run, last == .max ? 0 : run.firstMoment, Place(row: row))
  }

  private mutating func explore(_ run: WorkloadRun, _ first: Int, _ place: Place) -> Failure? {
    if let problem = run.problems.first {
      return Failure(what: problem, subject: CrashCase(place.levels + [.init(workload: run.workload, point: nil)]))
    }
    for moment in first..<run.moments.count {
      if isOver() { return nil }
      if let failure = examine(moment, run, place) { return failure }
    }
    return nil
  }

  private mutating func examine(_ moment: Int, _ run: WorkloadRun, _ place: Place) -> Failure? {
    let known = run.expectations(at: moment)
    let kind = run.workload.kind
    let killed = examination.kill(run.storage, moment, kind, known, row: place.row ?? "t0 killed")
    if let killed { return failure(killed, run, place) }
    if effort.nested != nil, place.depth == 1 {
      let left = run.storage.killState(at: moment)
      if examination.isNewStart(left, known, .killed), let failure = goOn(left, run, known, place) { return failure }
    }
    let nested = place.depth == 1 ? nil : effort.nested
    for profile in nested?.profiles ?? effort.profiles {
      var starts: [Start] = []
      let states = run.storage.crashStates(at: moment, under: profile, extent: effort.extent)
      let wanted = effort.nested
      let objection = examination.cut(
        states, limit: nested?.limit ?? effort.limit, kind, known, row: place.row ?? "t0 \(profile)"
      ) { state, key in
        if Explorer.mayStart(key, place, wanted) { starts.append(Start(state: state, key: key)) }
      }
      if let objection { return failure(objection, run, place) }
      if let failure = goOn(from: starts, run, known, place) { return failure }
    }
    return nil
  }

  private static func mayStart(_ key: UInt64, _ place: Place, _ nested: Effort.Nested?) -> Bool {
    guard let nested else { return false }
    switch place.depth {
    case 1: return true
    case 2: return nested.deeper > 0 && key / 8 % nested.deeper == 0
    default: return false
    }
  }

  /// Goes on with as many as are wanted. In the order in which states are made, the first would be those in which next to
  /// nothing has arrived.
  private mutating func goOn(
    from starts: [Start], _ run: WorkloadRun, _ known: [Expectation], _ place: Place
  ) -> Failure? {
    var left = place.depth == 1 ? effort.nested?.starts ?? 0 : .max
    for start in starts.count > left ? starts.sorted(by: { $0.key < $1.key }) : starts {
      guard left > 0 else { break }
      guard examination.isNewStart(start.state, known, CrashKind(start.state.profile)) else { continue }
      left -= 1
      if let failure = goOn(start.state, run, known, place) { return failure }
    }
    return nil
  }

  /// Goes on with a crashed disk, and crashes that again.
  private mutating func goOn(_ state: CrashState, _ run: WorkloadRun, _ known: [Expectation], _ place: Place)
    -> Failure?
  {
    let point = CrashPoint(state)
    let number = Int(state.hash >> 33)
    let chosen = follow.map { $0(place.depth, point) } ?? Continuation.workload(number, after: run.workload)
    guard let workload = chosen else { return nil }
    let next = WorkloadRun(workload, on: state.storage(), known.map { $0.crashed(point.kind) })
    let levels = place.levels + [.init(workload: run.workload, point: point)]
    return explore(next, 0, Place(levels: levels, row: place.row ?? "t0 nested"))
  }

  private func failure(_ objection: Examination.Objection, _ run: WorkloadRun, _ place: Place) -> Failure {
    let level = CrashCase.Level(workload: run.workload, point: objection.point)
    return Failure(what: objection.what, subject: CrashCase(place.levels + [level]))
  }
}
