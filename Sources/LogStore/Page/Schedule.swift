/// Decides, in the place of the system's queues and clock, when the engine goes on by itself: so that the order in which
/// threads do what is a test's to choose, and to choose again.
package struct Schedule: Sendable {
  /// Runs something on a thread of its own.
  package var start: @Sendable (@escaping @Sendable () -> Void) -> Void
  /// Returns once the calling thread, which waits for others to come, has waited long enough.
  package var pause: @Sendable () -> Void

  package init(
    start: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void, pause: @escaping @Sendable () -> Void
  ) {
    self.start = start
    self.pause = pause
  }
}
