#if SANITIZED_LOCKS
  #if canImport(Darwin)
    internal import Darwin
  #elseif canImport(Musl)
    internal import Musl
  #else
    internal import Glibc
  #endif

  typealias Mutex = SanitizedMutex

  /// Stands in the place of the standard library's `Mutex` under the thread sanitizer, which does not see the locks that
  /// one takes on Linux: `swift test --sanitize=thread -Xswiftc -DSANITIZED_LOCKS`.
  ///
  /// Invariant behind the unchecked conformance: `value` is touched only while `lock` is held.
  package struct SanitizedMutex<Value>: ~Copyable, @unchecked Sendable {
    private let box: Box

    @safe private final class Box {
      let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
      var value: Value

      init(_ value: Value) {
        self.value = value
        // Handed to the one that has waited longest, as the standard library's is; and a thread is seen to wait for it the
        // same way.
        var attributes = pthread_mutexattr_t()
        unsafe pthread_mutexattr_init(&attributes)
        unsafe pthread_mutexattr_setprotocol(&attributes, CInt(PTHREAD_PRIO_INHERIT))
        unsafe pthread_mutex_init(lock, &attributes)
        unsafe pthread_mutexattr_destroy(&attributes)
      }

      deinit {
        unsafe pthread_mutex_destroy(lock)
        unsafe lock.deallocate()
      }
    }

    package init(_ value: sending Value) { box = Box(value) }

    package borrowing func withLock<Result, E: Error>(_ body: (inout Value) throws(E) -> Result) throws(E) -> Result {
      unsafe pthread_mutex_lock(box.lock)
      defer { unsafe pthread_mutex_unlock(box.lock) }
      return try body(&box.value)
    }
  }
#endif
