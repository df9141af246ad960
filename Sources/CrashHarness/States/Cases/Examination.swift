import LogStoreTesting

/// Examines the states that crashes at a moment may leave, and counts them: each once, and once more only where somebody
/// asks for more of it than anybody did before. So no state is examined less deeply because of who met it first.
struct Examination {
  /// What was examined before; nil where everything is to be examined.
  let seen: DistinctStates?
  let effort: Effort
  var check: @Sendable (Workload.Kind) -> StateCheck = { StateCheck(kind: $0) }
  /// States examined, by row.
  private(set) var counts: [String: Count] = [:]

  struct Count {
    var states = 0
    var distinct = 0
  }

  /// A state that does not hold.
  struct Objection {
    var what: String
    var point: CrashPoint
  }

  init(seen: DistinctStates?, _ effort: Effort) {
    self.seen = seen
    self.effort = effort
  }

  /// Examines what a kill at a moment leaves.
  mutating func kill(
    _ storage: SimulatedStorage, _ moment: Int, _ kind: Workload.Kind, _ known: [Expectation], row: String
  ) -> Objection? {
    let state = storage.killState(at: moment)
    counts[row, default: Count()].states += 1
    let answer = note(Examination.key(state, known, .killed), .full)
    guard answer != .known else { return nil }
    if answer == .new { counts[row, default: Count()].distinct += 1 }
    let problem = check(kind).problem(with: state.storage(), known, .killed, .full)
    return problem.map { Objection(what: $0, point: CrashPoint(state)) }
  }

  /// Examines what a power cut at a moment may leave. `visit` is told of each state, new or not.
  mutating func cut(
    _ states: CrashStates, limit: Int, _ kind: Workload.Kind, _ known: [Expectation], row: String,
    visit: (CrashState, _ key: UInt64) -> Void = { _, _ in }
  ) -> Objection? {
    let check = check(kind)
    var count = Count()
    defer { counts[row, default: Count()].add(count) }
    // Where there are more than are wanted: some from everywhere.
    let visited = states.upperBound > limit ? states.spread : states
    for state in visited.prefix(limit) {
      let isFirst = count.states == 0
      count.states += 1
      let key = Examination.key(state, known, CrashKind(state.profile))
      visit(state, key)
      var depth = depth(of: key)
      let answer = note(key, depth)
      guard answer != .known else { continue }
      if answer == .new {
        count.distinct += 1
        if isFirst, depth < .full {
          depth = .full
          _ = note(key, depth)
        }
      }
      if let problem = check.problem(with: state.storage(), known, CrashKind(state.profile), depth) {
        return Objection(what: problem, point: CrashPoint(state))
      }
    }
    return nil
  }

  private func note(_ key: UInt64, _ depth: StateCheck.Depth) -> DistinctStates.Answer {
    seen?.note(key, depth: depth.rawValue) ?? .new
  }

  /// What is full for one effort is so for every other of a smaller share, where one share divides the other.
  private func depth(of key: UInt64) -> StateCheck.Depth {
    if key % effort.fullShare == 0 { return .full }
    return effort.looksAtHalf && key >> 63 == 0 ? .look : .quick
  }

  /// Whether nobody has gone on with this state yet.
  func isNewStart(_ state: CrashState, _ known: [Expectation], _ crash: CrashKind) -> Bool {
    seen?.insert(~Examination.key(state, known, crash)) ?? true
  }

  /// A state and what was promised of it: the same disk under another promise is another state.
  private static func key(_ state: CrashState, _ known: [Expectation], _ crash: CrashKind) -> UInt64 {
    var print = Fingerprint()
    print.add(state.hash)
    for page in known { print.add(page.hash(after: crash)) }
    return print.value
  }
}

extension Examination.Count {
  mutating func add(_ other: Examination.Count) {
    states += other.states
    distinct += other.distinct
  }
}
