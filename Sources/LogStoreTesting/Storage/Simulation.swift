internal import LogStore

/// What lies behind a simulated storage: the disk, and who disturbs it.
struct Simulation {
  var disk: Disk
  var clock = SimulatedClock()
  var random: SeededRandom
  var calls: [Call] = []
  var callCount = 0
  var logsCalls = true
  var faults: [Fault] = []
  /// The first call that a fault has concerned.
  var firstFailure: Call?
  var watch: (@Sendable (Call) -> Void)?
  var watchSyncReturns: (@Sendable () -> Void)?
  /// Calls that may still take effect before the power goes; nil: all.
  var remaining: Int?
  /// The disk after each call that changed something, where somebody asked for it.
  var moments: [Moment]?

  /// The disk as it was after so many calls.
  struct Moment {
    var call: Int
    var disk: Disk
    var clock: SimulatedClock
  }

  init(disk: Disk, seed: UInt64) {
    self.disk = disk
    random = SeededRandom(seed: seed)
  }

  /// Whether nobody looks at calls or makes them fail.
  var isUndisturbed: Bool { !logsCalls && faults.isEmpty && remaining == nil && moments == nil }

  mutating func record() {
    moments = [Moment(call: callCount, disk: disk, clock: clock)]
  }

  /// Notes the call. Returns how it fails, if a fault concerns it.
  mutating func beginCall(_ call: Call) throws(StorageError) -> Fault.Effect? {
    if logsCalls { calls.append(call) }
    if let left = remaining {
      guard left > 0 else {
        if logsCalls { calls[calls.count - 1].errno = 5 }
        throw StorageError(call.operation, errno: 5, path: call.path)
      }
      if call.changesDisk { remaining = left - 1 }
    }
    var found: Fault.Effect?
    for index in faults.indices where faults[index].fires(at: call) {
      // Those behind it do not see this call.
      found = faults[index].effect
      break
    }
    if let found, firstFailure == nil {
      firstFailure = call
      firstFailure?.errno = found.errno
    }
    return found
  }

  mutating func noteFailure(_ error: StorageError) { if logsCalls { calls[calls.count - 1].errno = error.errno } }

  mutating func endCall(_ operation: StorageError.Operation) {
    guard moments != nil, Call.changing.contains(operation) else { return }
    moments?.append(Moment(call: callCount, disk: disk, clock: clock))
  }
}
