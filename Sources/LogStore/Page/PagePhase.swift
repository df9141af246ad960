internal import Synchronization

/// Whether a page is open. Looked at by every write, so without a lock.
struct PagePhase: ~Copyable, Sendable {
  enum Value: UInt8, AtomicRepresentable { case open, suspended, closed }

  private let value = Atomic<Value>(.open)

  var current: Value { value.load(ordering: .acquiring) }
  var isOpen: Bool { current == .open }

  /// Sets the phase and returns the one before.
  @discardableResult
  func exchange(_ new: Value) -> Value { value.exchange(new, ordering: .acquiringAndReleasing) }

  /// Sets the phase if it is `old`. Returns whether it was.
  func exchange(_ old: Value, for new: Value) -> Bool {
    value.compareExchange(expected: old, desired: new, ordering: .acquiringAndReleasing).exchanged
  }
}

/// A flag that one thread at a time can raise.
struct RaisedOnce: ~Copyable, Sendable {
  private let isRaised = Atomic<Bool>(false)

  /// Returns whether it was this call that raised it.
  func raise() -> Bool {
    // Looked at first: most find it raised, and looking leaves the memory to all processors.
    if isRaised.load(ordering: .relaxed) { return false }
    return !isRaised.exchange(true, ordering: .acquiringAndReleasing)
  }

  func lower() { isRaised.store(false, ordering: .releasing) }
}
