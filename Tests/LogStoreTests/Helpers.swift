import Dispatch
import Synchronization

@testable import LogStore

/// Helpers that were started, and those that are at work.
final class Helpers: Sendable {
  enum Kind: CaseIterable { case none, prompt, late, never }

  private let counts = Mutex((started: 0, running: 0))
  private let kind: Kind

  init(_ kind: Kind = .prompt) { self.kind = kind }

  var started: Int { counts.withLock { $0.started } }

  var start: HelperStart? {
    if kind == .none { return nil }
    return HelperStart { [self] work in
      counts.withLock { $0.started += 1 }
      if kind == .never { return }
      counts.withLock { $0.running += 1 }
      DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(kind == .late ? 3 : 0)) {
        work()
        self.counts.withLock { $0.running -= 1 }
      }
    }
  }

  /// Whether all have ended, or do within a few seconds.
  func haveEnded() -> Bool {
    for _ in 0..<5000 {
      if counts.withLock({ $0.running }) == 0 { return true }
      _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(1))
    }
    return false
  }
}

/// A value that several threads see.
final class Shared<Value: Sendable>: Sendable {
  private let value: Mutex<Value>

  init(_ value: Value) { self.value = Mutex(value) }

  var current: Value { value.withLock { $0 } }
  func change(_ change: (inout Value) -> Void) { value.withLock { change(&$0) } }
}
