import Glibc

/// A value under a lock of the system's library, of which one can tell where it lies.
///
/// Invariant behind the unchecked conformance: `value` is touched only while `lock` is held, which this object alone makes
/// and destroys.
@safe final class PlacedLock<Value>: @unchecked Sendable {
  private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private var value: Value

  init(_ value: sending Value) {
    self.value = value
    unsafe pthread_mutex_init(lock, nil)
  }

  /// The address at which a thread waits that wants the lock.
  var place: UInt64 { unsafe UInt64(UInt(bitPattern: lock)) }

  func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
    unsafe pthread_mutex_lock(lock)
    defer { unsafe pthread_mutex_unlock(lock) }
    return body(&value)
  }

  deinit {
    unsafe pthread_mutex_destroy(lock)
    unsafe lock.deallocate()
  }
}
