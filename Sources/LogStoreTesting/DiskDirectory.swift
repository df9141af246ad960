/// A directory: the names that the cache shows, those that the medium holds, and what changed since the last sync.
struct DiskDirectory {
  private(set) var names: [String: UInt64] = [:]
  private(set) var durableNames: [String: UInt64] = [:]
  /// Changes that no sync has forced to the medium, in order. Each is atomic.
  private(set) var pending: [Change] = []

  enum Change {
    case add(String, UInt64)
    case remove(String)
    case rename(String, to: String, UInt64)
  }

  mutating func add(_ name: String, _ number: UInt64) { change(.add(name, number)) }
  mutating func remove(_ name: String) { change(.remove(name)) }
  mutating func rename(_ from: String, to: String, _ number: UInt64) { change(.rename(from, to: to, number)) }

  private mutating func change(_ change: Change) {
    DiskDirectory.apply(change, to: &names)
    pending.append(change)
  }

  mutating func sync() {
    durableNames = names
    pending = []
  }

  /// Settles on what the medium holds: after a power cut.
  mutating func settle(on names: [String: UInt64]) {
    self.names = names
    sync()
  }

  static func apply(_ change: Change, to names: inout [String: UInt64]) {
    switch change {
    case .add(let name, let number): names[name] = number
    case .remove(let name): names[name] = nil
    case .rename(let from, let to, let number):
      names[from] = nil
      names[to] = number
    }
  }
}
