internal import Dispatch

/// Has something run on another thread, beside what is being done. Nobody waits for it to begin: where it never does, the
/// work is done by who would have been helped.
struct HelperStart: Sendable {
  private let start: @Sendable (@escaping @Sendable () -> Void) -> Void

  init(_ start: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) { self.start = start }

  func callAsFunction(_ work: @escaping @Sendable () -> Void) { start(work) }

  /// On a thread of the system's.
  static let system = HelperStart { DispatchQueue.global().async(execute: $0) }
}

extension PageOptions {
  /// Who orders the engine's threads is not to have more of them.
  var startHelper: HelperStart? { schedule == nil ? .system : nil }
}
