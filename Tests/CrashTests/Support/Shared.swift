import Dispatch

/// A value that several threads note things in.
///
/// Invariant behind the unchecked conformance: `value` is touched only on `queue`.
final class Shared<Value: Sendable>: @unchecked Sendable {
  private var value: Value
  private let queue = DispatchQueue(label: "shared")

  init(_ value: Value) { self.value = value }

  var current: Value { queue.sync { value } }

  func change(_ body: (inout Value) -> Void) { queue.sync { body(&value) } }

  /// Puts another value there; returns the one that was.
  func exchange(_ new: Value) -> Value {
    queue.sync {
      defer { value = new }
      return value
    }
  }
}
