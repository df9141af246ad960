import LogStore
import Synchronization

/// A value that callbacks note things in.
final class Noted<Value: Sendable>: Sendable {
  private let value: Mutex<Value>

  init(_ value: Value) { self.value = Mutex(value) }

  var current: Value { value.withLock { $0 } }

  func change(_ body: (inout Value) -> Void) {
    value.withLock { value in
      var copy = value
      body(&copy)
      value = copy
    }
  }
}
