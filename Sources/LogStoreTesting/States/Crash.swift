/// What a crash leaves of what was not yet durable.
public enum Crash: Sendable, Hashable, CustomStringConvertible {
  /// The process ends, and the system goes on: everything that was written is still in the cache, and still not durable.
  case kill
  /// The power goes. A sync at `.ordered` counts as a full one, as on Linux.
  case powerCut(Fate)

  /// What becomes of effects that were not synced.
  public enum Fate: Sendable, Hashable {
    case dropUnsynced
    case keepAll
    /// One state that ``CrashProfile/strict`` allows, drawn by a seed.
    case seeded(UInt64)
  }

  public var description: String {
    switch self {
    case .kill: "kill"
    case .powerCut(.dropUnsynced): "power cut, nothing unsynced arrives"
    case .powerCut(.keepAll): "power cut, everything arrives"
    case .powerCut(.seeded(let seed)): "power cut, seed \(seed)"
    }
  }
}

extension Disk {
  /// The disk as the next process finds it.
  func after(_ crash: Crash) -> Disk {
    var disk = self
    disk.locks = [:]
    guard case .powerCut(let fate) = crash else { return disk }
    disk.flushDrive()
    let window = CrashWindow(disk, SimulatedClock(), moment: 0, .strict)
    if case .seeded(let seed) = fate { return window.randomState(0, seed: seed).settledDisk }
    let arrives = fate == .keepAll
    return window.state(
      window.names(window.changes.map { _ in arrives }),
      { file in window.files[file].writes.map { arrives ? .whole($0.bytes.count) : .absent } },
      .systematic(0)
    ).settledDisk
  }
}
