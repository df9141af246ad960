import Glibc

/// What a thread of this process is doing, as the system sees it.
struct ThreadStatus {
  let id: pthread_t
  private let file: Int32

  /// Of the calling thread.
  init() {
    id = pthread_self()
    file = unsafe open("/proc/thread-self/syscall", O_RDONLY | O_CLOEXEC)
  }

  func close() { if file >= 0 { _ = Glibc.close(file) } }

  /// The address that the thread waits at, in a lock or semaphore; nil where it runs, or waits for something else. 0 where the
  /// thread has ended.
  var waitingAt: UInt64? {
    var buffer = [UInt8](repeating: 0, count: 128)
    let count = unsafe buffer.withUnsafeMutableBytes { unsafe pread(file, $0.baseAddress, $0.count, 0) }
    guard count > 0 else { return 0 }
    let words = buffer[..<count].split(separator: UInt8(ascii: " "))
    guard words.count > 1, String(decoding: words[0], as: UTF8.self) == ThreadStatus.futex else { return nil }
    return UInt64(String(decoding: words[1].dropFirst(2), as: UTF8.self), radix: 16)
  }

  #if arch(x86_64)
    private static let futex = "202"
  #else
    private static let futex = "98"
  #endif
}
