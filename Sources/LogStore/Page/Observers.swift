internal import Synchronization

/// Whoever waits for a page to change.
final class Observers: Sendable {
  private let state = Mutex(State())
  /// Whether anybody waits, for who asks at every write. Whoever waits says so before he looks at the log, and whoever
  /// writes asks after he has noted it there: the log's lock puts one in front of the other.
  private let isAnyoneWaiting = Atomic<Bool>(false)

  private struct State {
    var isFinished = false
    var next = 0
    var waiting: [Int: @Sendable () -> Void] = [:]
  }

  /// Calls `wake` once, at the next change or at the end; at once where the end has come.
  /// Returns a number to take it back with.
  func wait(_ wake: @escaping @Sendable () -> Void) -> Int? {
    let number: Int? = state.withLock {
      guard !$0.isFinished else { return nil }
      $0.next += 1
      $0.waiting[$0.next] = wake
      isAnyoneWaiting.store(true, ordering: .releasing)
      return $0.next
    }
    if number == nil { wake() }
    return number
  }

  /// Wakes a waiter early.
  func cancel(_ number: Int) {
    let wake = state.withLock {
      let wake = $0.waiting.removeValue(forKey: number)
      isAnyoneWaiting.store(!$0.waiting.isEmpty, ordering: .releasing)
      return wake
    }
    wake?()
  }

  var isFinished: Bool { state.withLock { $0.isFinished } }

  /// Something was written, and noted in the log.
  @inline(__always)
  func notifyOfLog() { if isAnyoneWaiting.load(ordering: .acquiring) { notify() } }

  /// Something has changed. No lock is held while the waiters are woken.
  func notify() { wakeAll(finishing: false) }

  func finish() { wakeAll(finishing: true) }

  private func wakeAll(finishing: Bool) {
    let waiting: [Int: @Sendable () -> Void]? = state.withLock {
      if finishing { $0.isFinished = true }
      guard !$0.waiting.isEmpty else { return nil }
      let waiting = $0.waiting
      $0.waiting = [:]
      isAnyoneWaiting.store(false, ordering: .releasing)
      return waiting
    }
    guard let waiting else { return }
    for wake in waiting.values { wake() }
  }
}
