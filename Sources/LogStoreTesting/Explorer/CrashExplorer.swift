/// Proves that an application survives crashes: runs a workload once, and a check on everything that a crash at any moment
/// of it may leave on disk.
///
/// ```swift
/// let explorer = CrashExplorer<String>(
///   workload: { storage, acknowledgements in
///     let page = try Page(path: "/notes", options: storage.pageOptions)
///     try page.put("milk", for: "shopping")
///     acknowledgements.acknowledge("shopping")             // from now on no crash may lose it
///   },
///   check: { storage, acknowledged in
///     let view = try Page(path: "/notes", options: storage.pageOptions).view()
///     for key in acknowledged where try view.value(for: key) == nil { throw Lost(key) }
///   })
/// let report = try explorer.explore()
/// #expect(report.failure == nil, "\(report)")
/// ```
///
/// A failure names the state: `explorer.replay("strict.7.b12")` makes it again and checks it, and no other.
/// For that the workload must do the same every time: it must not depend on time, threads or random numbers other than
/// those of its storage. ``SimulatedStorage/pageOptions`` see to it that the engine does.
///
/// With ``nested``, what a crash leaves is handed to a second workload, which is crashed in its turn.
///
/// - Complexity: one check for each state; making one costs microseconds.
public struct CrashExplorer<Token: Sendable> {
  /// Does what the application does, and notes what it is promised.
  public typealias Workload = (SimulatedStorage, Acknowledgements<Token>) throws -> Void
  /// Throws where something is wrong with what a crash has left. The tokens were acknowledged before, at a level that
  /// survives such a crash.
  public typealias Check = (SimulatedStorage, [Token]) throws -> Void

  /// Crashes within what runs after a crash.
  public struct Nested {
    /// What runs on the disk that a crash has left: opening it again, at least.
    public var workload: Workload
    /// How many crashes follow each other; 1 is none within another.
    public var depth = 2
    /// Of so many distinct states, one is gone on with.
    public var every = 1
    /// What is enumerated there.
    public var extent = CrashExtent(exhaustive: 256, samples: 8)

    public init(_ workload: @escaping Workload) { self.workload = workload }
  }

  /// What the disk may do; each in turn.
  public var profiles: [CrashProfile] = [.strict]
  /// Whether the process is also killed, which leaves the cache.
  public var kills = true
  public var extent = CrashExtent()
  public var nested: Nested?
  /// Decides the random numbers of the storage on which the workload runs.
  public var seed: UInt64 = 0
  private let workload: Workload
  private let check: Check

  public init(workload: @escaping Workload, check: @escaping Check) {
    self.workload = workload
    self.check = check
  }

  /// Runs the workload, and the check after every crash, until one fails.
  ///
  /// - Throws: what the workload throws when nothing has crashed.
  public func explore() throws -> CrashReport {
    var run = Run(report: CrashReport())
    let recording = try Recording(SimulatedStorage(seed: seed), workload)
    explore(recording, crashes: 1, "", &run)
    run.report.distinct = run.distinct.count
    return run.report
  }

  /// Runs the workload again, and the check on one state that a report has named, and what runs after that crash.
  ///
  /// - Throws: what these throw, or ``UnknownState``.
  public func replay(_ identity: String) throws {
    var recording = try Recording(SimulatedStorage(seed: seed), workload)
    let parts = identity.split(separator: "/").map(String.init)
    for (place, part) in parts.enumerated() {
      guard let state = recording.storage.crashState(part) else { throw UnknownState(identity: identity) }
      guard place + 1 < parts.count else {
        try check(state.storage(), recording.promised(state.moment, state.profile))
        // What runs after the crash may be what failed.
        if let nested, parts.count < nested.depth { _ = try recording.after(state, nested.workload) }
        return
      }
      guard let nested else { throw UnknownState(identity: identity) }
      recording = try recording.after(state, nested.workload)
    }
    throw UnknownState(identity: identity)
  }

  private struct Run {
    var report: CrashReport
    /// States with what was promised of them.
    var checked: Set<UInt64> = []
    var distinct: Set<UInt64> = []
  }

  private func explore(_ recording: Recording, crashes: Int, _ prefix: String, _ run: inout Run) {
    for moment in recording.moments.indices {
      if kills {
        let promised = recording.promised(moment, nil)
        visit(recording.storage.killState(at: moment), promised, recording, crashes, prefix, &run)
      }
      for profile in profiles {
        let promised = recording.promised(moment, profile)
        let extent = crashes == 1 ? extent : nested?.extent ?? extent
        for state in recording.storage.crashStates(at: moment, under: profile, extent: extent) {
          guard run.report.failure == nil else { return }
          visit(state, promised, recording, crashes, prefix, &run)
        }
      }
    }
  }

  private func visit(
    _ state: CrashState, _ promised: [Token], _ recording: Recording, _ crashes: Int, _ prefix: String,
    _ run: inout Run
  ) {
    // The same disk is another case where something else was promised of it.
    let identity = recording.promise(of: state, count: promised.count)
    guard run.report.failure == nil, run.checked.insert(identity).inserted else { return }
    run.report.states += 1
    run.distinct.insert(state.hash)
    do {
      try check(state.storage(), promised)
      guard let nested, crashes < nested.depth, run.report.states % max(nested.every, 1) == 0 else { return }
      let next = try recording.after(state, nested.workload)
      explore(next, crashes: crashes + 1, prefix + state.identity + "/", &run)
    } catch {
      run.report.failure = CrashReport.Failure(identity: prefix + state.identity, error: error)
    }
  }

  /// A workload that has run, with what it was promised at each moment.
  private struct Recording {
    let storage: SimulatedStorage
    let moments: [Int]
    let acknowledgements: Acknowledgements<Token>
    /// Tells what has led here, and what was promised on the way, from other ways.
    private var origin: UInt64 = 0

    init(_ storage: SimulatedStorage, _ workload: Workload) throws {
      try self.init(storage, Acknowledgements(storage), workload)
    }

    private init(_ storage: SimulatedStorage, _ acknowledgements: Acknowledgements<Token>, _ workload: Workload) throws
    {
      self.storage = storage
      self.acknowledgements = acknowledgements
      storage.logsCalls = false
      storage.recordMoments()
      try workload(storage, acknowledgements)
      moments = storage.moments
    }

    /// The call before whose beginning a crash at a moment comes: what was acknowledged until then is promised.
    private func end(of moment: Int) -> Int { moment + 1 < moments.count ? moments[moment + 1] : .max }

    func promised(_ moment: Int, _ profile: CrashProfile?) -> [Token] {
      acknowledgements.given(before: end(of: moment), surviving: profile)
    }

    /// Stands for a state with so many promises: what is promised only grows, but for each kind of crash by itself.
    func promise(of state: CrashState, count: Int) -> UInt64 {
      let kind: UInt64 = state.profile.map { $0.orderedSyncsAreDurable ? 1 : 2 } ?? 0
      return ContentHash.mix(ContentHash.mix(origin, UInt64(count) << 2 | kind), state.hash)
    }

    func after(_ state: CrashState, _ workload: Workload) throws -> Recording {
      let left = state.storage()
      let inherited = Acknowledgements<Token>(left)
      inherited.inherit(acknowledgements, before: end(of: state.moment), surviving: state.profile)
      var recording = try Recording(left, inherited, workload)
      recording.origin = promise(of: state, count: promised(state.moment, state.profile).count)
      return recording
    }
  }
}

/// No state of this name is in the recording: another workload, or one that does not do the same every time.
public struct UnknownState: Error, Hashable {
  public var identity: String
}
