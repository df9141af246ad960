internal import LogStore
internal import Synchronization

/// What a test does to the disk.
extension SimulatedStorage {
  // MARK: Crashing

  /// The disk as the next process finds it. This one goes on as if nothing had happened.
  public func crash(_ crash: Crash) -> SimulatedStorage {
    simulation.withLock { state in
      SimulatedStorage(disk: state.disk.after(crash), seed: state.random.next(), clock: state.clock)
    }
  }

  /// From now on, after `calls` more calls that change something, every call fails and none has an effect: the power is gone.
  /// Then ``crash(_:)`` is what is left.
  public func cutPower(after calls: Int) { simulation.withLock { $0.remaining = calls } }

  /// Keeps the disk as it is and after each call from now on that changes something, for ``crash(_:at:)`` and
  /// ``crashStates(at:under:extent:)``. The disks share their bytes.
  public func recordMoments() {
    simulation.withLock { $0.record() }
  }

  /// How many calls had been made at each recorded moment.
  public var moments: [Int] { simulation.withLock { $0.moments?.map(\.call) ?? [] } }

  /// The disk as the next process would have found it after a crash at a recorded moment.
  ///
  /// - Parameters:
  ///   - crash: what the crash leaves.
  ///   - moment: an index into ``moments``.
  public func crash(_ crash: Crash, at moment: Int) -> SimulatedStorage {
    simulation.withLock { state in
      guard let moments = state.moments, moments.indices.contains(moment) else {
        preconditionFailure("no such moment was recorded")
      }
      return SimulatedStorage(
        disk: moments[moment].disk.after(crash), seed: state.random.next() &+ UInt64(moment), clock: state.clock)
    }
  }

  // MARK: Faults

  /// Has a call fail. Several faults may wait; the first that concerns a call speaks.
  public func fail(_ fault: Fault) { simulation.withLock { $0.faults.append(fault) } }

  /// Whether a fault has spoken.
  public var faultHasFired: Bool { firstFailure != nil }

  /// The first call that a fault has concerned, and its errno.
  public var firstFailure: Call? { simulation.withLock { $0.firstFailure } }

  /// Ends all faults.
  public func heal() {
    simulation.withLock {
      $0.faults = []
      $0.remaining = nil
      $0.disk.freeBytes = nil
    }
  }

  /// How many bytes can still be written before `ENOSPC`; nil: no end. Removed files give theirs back.
  public var freeBytes: Int? {
    get { simulation.withLock { $0.disk.freeBytes } }
    set { simulation.withLock { $0.disk.freeBytes = newValue } }
  }

  /// Whether the disk says that no other machine sees it.
  public var isLocal: Bool {
    get { simulation.withLock { $0.disk.isLocal } }
    set { simulation.withLock { $0.disk.isLocal = newValue } }
  }

  // MARK: Watching

  /// Whether ``calls`` are kept. They are, but not by what a ``CrashState`` gives, where speed counts.
  public var logsCalls: Bool {
    get { simulation.withLock { $0.logsCalls } }
    set { simulation.withLock { $0.logsCalls = newValue } }
  }

  /// The calls so far, since ``forgetCalls()``.
  public var calls: [Call] { simulation.withLock { $0.calls } }

  /// How many calls there were, ever.
  public var callCount: Int { simulation.withLock { $0.callCount } }

  public func forgetCalls() { simulation.withLock { $0.calls = [] } }

  /// Runs before every call, on the caller's thread and under no lock: the place to come in between.
  public func watch(_ watch: (@Sendable (Call) -> Void)?) { simulation.withLock { $0.watch = watch } }

  /// Runs when a sync of a file has taken effect and before its caller goes on, in the same manner: what another thread
  /// writes then is not covered by the sync.
  public func watchSyncReturns(_ watch: (@Sendable () -> Void)?) { simulation.withLock { $0.watchSyncReturns = watch } }

  /// The clocks that the engine reads.
  public var clock: SimulatedClock {
    get { simulation.withLock { $0.clock } }
    set { simulation.withLock { $0.clock = newValue } }
  }
}
