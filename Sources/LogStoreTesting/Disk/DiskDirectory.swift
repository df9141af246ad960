/// A directory: the names that the cache shows, those that the medium holds, and what changed since the last sync.
struct DiskDirectory {
  private(set) var names: [String: UInt64] = [:]
  private(set) var durableNames: [String: UInt64] = [:]
  /// Changes that no sync has forced to the medium, in order. Each is atomic.
  private(set) var pending: [Change] = []
  /// What only barriers have been put behind since the drive was last flushed; nil: nothing.
  private(set) var handed: Handed?

  struct Change {
    var kind: Kind
    /// When it was made, on the disk's own count.
    var sequence: UInt64
    /// The barrier that was put behind it.
    var barrier: UInt64?
  }

  enum Kind {
    case add(String, UInt64)
    case remove(String)
    case rename(String, to: String, UInt64)
  }

  /// Names that have left the system's cache and may still be in the drive's.
  struct Handed {
    var names: [String: UInt64]
    var changes: [Change]
  }

  mutating func change(_ kind: Kind, _ sequence: UInt64) {
    DiskDirectory.apply(kind, to: &names)
    pending.append(Change(kind: kind, sequence: sequence))
  }

  mutating func sync() {
    for change in pending { DiskDirectory.apply(change.kind, to: &durableNames) }
    pending = []
  }

  /// A sync that fails: the changes count as written, and the medium does not have them.
  mutating func failSync(_ cache: Fault.Cache) {
    pending = []
    if cache == .old { names = durableNames }
  }

  /// A sync that ends in a barrier, and leaves the drive its cache.
  mutating func sync(behind barrier: UInt64) {
    if !pending.isEmpty {
      var handed = handed ?? Handed(names: durableNames, changes: [])
      for var change in pending {
        change.barrier = barrier
        handed.changes.append(change)
      }
      self.handed = handed
    }
    sync()
  }

  /// The drive has written all that it was handed.
  mutating func flushDrive() { if handed != nil { handed = nil } }

  /// Settles on what the medium holds: after a power cut, or by other means than the page's.
  mutating func settle(on names: [String: UInt64]) {
    self.names = names
    durableNames = names
    pending = []
    handed = nil
  }

  /// Changes a name by other means than the page's: durable at once.
  mutating func settle(_ kind: Kind) {
    DiskDirectory.apply(kind, to: &names)
    settle(on: names)
  }

  static func apply(_ kind: Kind, to names: inout [String: UInt64]) {
    switch kind {
    case .add(let name, let number): names[name] = number
    case .remove(let name): names[name] = nil
    case .rename(let from, let to, let number):
      names[from] = nil
      names[to] = number
    }
  }
}
