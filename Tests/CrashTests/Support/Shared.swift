import Synchronization

/// A value that several threads note things in.
final class Shared<Value: Sendable>: Sendable {
  private let value: Mutex<Value>

  init(_ value: Value) { self.value = Mutex(value) }

  var current: Value { value.withLock { $0 } }

  func change(_ body: (inout Value) -> Void) {
    value.withLock { body(&$0) }
  }

  /// Puts another value there; returns the one that was.
  func exchange(_ new: Value) -> Value {
    value.withLock { value in
      defer { value = new }
      return value
    }
  }
}
