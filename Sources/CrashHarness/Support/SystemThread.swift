import Glibc

/// A thread of the system's own: a pool may let it wait for others that block.
struct SystemThread {
  private let thread: pthread_t

  init(_ body: @escaping @Sendable () -> Void) {
    let work = unsafe Unmanaged.passRetained(Work(body))
    var thread = pthread_t()
    let result = unsafe pthread_create(
      &thread, nil,
      { argument in
        unsafe Unmanaged<Work>.fromOpaque(argument!).takeRetainedValue().body()
        return nil
      }, work.toOpaque())
    precondition(result == 0, "no thread can be made")
    self.thread = thread
  }

  func join() { pthread_join(thread, nil) }

  /// Leaves it to itself: nobody waits for its end.
  func detach() { pthread_detach(thread) }

  /// Runs a body on so many threads, and waits for all of them.
  static func run(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    let threads = (0..<count).map { place in SystemThread { body(place) } }
    for thread in threads { thread.join() }
  }

  private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
}
