import Glibc

/// Threads that wait for a start, and then all work at once.
final class Threads {
  private final class Job {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// Invariant behind the unchecked conformance: the barrier is made before the threads are, and destroyed after them.
  private final class Gate: @unchecked Sendable {
    private let barrier = UnsafeMutablePointer<pthread_barrier_t>.allocate(capacity: 1)

    init(_ count: Int) { pthread_barrier_init(barrier, nil, UInt32(count)) }
    func pass() { pthread_barrier_wait(barrier) }
    deinit {
      pthread_barrier_destroy(barrier)
      barrier.deallocate()
    }
  }

  private let gate: Gate
  private let failure = Locked<(any Error)?>(nil)
  private var threads: [pthread_t] = []

  /// Makes so many threads; each is given its number.
  init(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
    let gate = Gate(count + 1)
    self.gate = gate
    let failure = failure
    for index in 0..<count {
      let job = Job {
        gate.pass()
        do { try body(index) } catch { failure.withLock { $0 = $0 ?? error } }
      }
      var thread = pthread_t()
      let result = pthread_create(
        &thread, nil,
        {
          Unmanaged<Job>.fromOpaque($0!).takeRetainedValue().body()
          return nil
        }, Unmanaged.passRetained(job).toOpaque())
      guard result == 0 else { throw Failure("pthread_create: \(String(cString: strerror(result)))") }
      threads.append(thread)
    }
  }

  func start() { gate.pass() }

  /// Waits for the last, and throws what the first to fail threw.
  func join() throws {
    for thread in threads { pthread_join(thread, nil) }
    threads = []
    if let error = failure.withLock({ $0 }) { throw error }
  }
}

/// What must not be done by two threads at once.
///
/// Invariant behind the unchecked conformance: the value is touched only under the lock.
final class Locked<Value>: @unchecked Sendable {
  private var value: Value
  private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

  init(_ value: Value) {
    self.value = value
    pthread_mutex_init(lock, nil)
  }

  deinit {
    pthread_mutex_destroy(lock)
    lock.deallocate()
  }

  func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    return try body(&value)
  }
}
