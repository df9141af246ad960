internal import Dispatch

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// Whether a compaction is at work, and when the next may begin by itself.
struct CompactionState {
  var isRunning = false
  var isCancelled = false
  /// The thread at work, on which its progress handler is called.
  var worker: UInt?
  /// Whether one has been asked for and not begun.
  var isScheduled = false
  /// Whoever waits for the running one to end.
  var waiting: [DispatchSemaphore] = []
  /// Nanoseconds of the monotonic clock before which none starts by itself.
  var notBefore = -(Int64(1) << 62)
  /// How long the next failure holds the next try off.
  var backOff: Int64 = CompactionState.firstBackOff

  static let firstBackOff: Int64 = 1_000_000_000
  static let longestBackOff: Int64 = 300_000_000_000

  mutating func failed(at now: Int64) -> Int64 {
    let wait = backOff
    notBefore = now + wait
    backOff = min(backOff * 2, CompactionState.longestBackOff)
    return wait
  }

  mutating func succeeded() {
    notBefore = -(1 << 62)
    backOff = CompactionState.firstBackOff
  }
}

/// What tells the calling thread from all others that live.
var currentThread: UInt {
  #if canImport(Darwin)
    UInt(bitPattern: pthread_self())
  #else
    UInt(pthread_self())
  #endif
}

extension CompactionPolicy {
  /// Bytes of log at which a compaction is due behind a snapshot of `snapshotBytes`.
  func limit(snapshotBytes: UInt64) -> UInt64 {
    let (product, overflow) = snapshotBytes.multipliedReportingOverflow(by: percentOfSnapshot)
    return max(minimumBytes, overflow ? .max : product / 100)
  }

  /// Whether, where compactions come by themselves, it is time to compact a log of `bytes` in `journals` files behind a snapshot of `snapshotBytes`.
  func isDue(bytes: UInt64, journals: Int, snapshotBytes: UInt64) -> Bool {
    journals >= self.journals || bytes >= limit(snapshotBytes: snapshotBytes)
  }
}
