import Glibc

/// What a thread of this process is doing, as the system sees it.
struct ThreadStatus {
  let id: pthread_t
  private let call: Int32
  private let account: Int32
  private let state: Int32

  /// Of the calling thread.
  init() {
    id = pthread_self()
    call = unsafe open("/proc/thread-self/syscall", O_RDONLY | O_CLOEXEC)
    account = unsafe open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)
    state = unsafe open("/proc/thread-self/stat", O_RDONLY | O_CLOEXEC)
  }

  func close() { for file in [call, account, state] where file >= 0 { _ = Glibc.close(file) } }

  /// Whether there was a moment at which all of these threads waited for others; none of them for the lock at `place`.
  //
  // One look at each after the other would not tell: the first may have been woken by the second in between. So each is
  // looked at twice, and what it has run so far is read in front of the first look and behind the second. Where that has
  // not changed it slept all the while, and all of them did at the moment between the first looks and the second ones.
  static func areWaiting(_ threads: [ThreadStatus], butNotAt place: UInt64 = 0) -> Bool {
    var before: [[UInt8]] = []
    for thread in threads {
      before.append(thread.timeRun)
      guard thread.isWaiting(butNotAt: place) else { return false }
    }
    return zip(threads, before).allSatisfy { thread, before in
      thread.isWaiting(butNotAt: place) && thread.timeRun == before
    }
  }

  /// How long it has run, waited for a processor, and how often it got one: the same only where it has not run meanwhile.
  private var timeRun: [UInt8] { ThreadStatus.read(account) }

  /// Whether the thread waits in a semaphore or one of Swift's locks, whose holder may be a thread that stands still.
  ///
  /// The C library's own locks, such as the allocator's, do not count: they are held for a moment, and by any thread of the
  /// process, so who waits for one goes on by itself. The engine takes none of these.
  private func isWaiting(butNotAt place: UInt64) -> Bool {
    let words = ThreadStatus.read(call).split(separator: UInt8(ascii: " "))
    guard words.count > 2, String(decoding: words[0], as: UTF8.self) == ThreadStatus.futex,
      let operation = ThreadStatus.number(words[2]), ThreadStatus.number(words[1]) != place
    else { return false }
    return operation & ThreadStatus.commandMask != ThreadStatus.plainWait && isAsleep
  }

  /// One that was woken is in its call until it gets a processor, and no longer asleep.
  private var isAsleep: Bool {
    let text = ThreadStatus.read(state)
    // Behind the name, which may hold anything.
    guard let end = text.lastIndex(of: UInt8(ascii: ")")), text.count > end + 2 else { return false }
    return text[end + 2] == UInt8(ascii: "S")
  }

  private static func number(_ word: ArraySlice<UInt8>) -> UInt64? {
    UInt64(String(decoding: word.dropFirst(2), as: UTF8.self), radix: 16)
  }

  private static func read(_ file: Int32) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: 192) { buffer, count in
      count = unsafe max(0, pread(file, buffer.baseAddress, buffer.count, 0))
    }
  }

  #if arch(x86_64)
    private static let futex = "202"
  #else
    private static let futex = "98"
  #endif
  /// A futex call's operation, without its flags, and the one by which the C library waits for its locks.
  private static let (commandMask, plainWait): (UInt64, UInt64) = (0x7F, 0)
}
