internal import Synchronization

/// What of the newest journal is durable, as far as anyone has seen.
struct Durable {
  /// Nil until there is a journal to append to: none that was closed, before its session goes on in it.
  var generation: UInt64?
  /// What lies in front of it survives a power cut.
  var end: UInt64 = 0
  var lsn: UInt64 = 0
  /// How far syncs have come that only keep the order; in front of `end`, they say nothing.
  var orderedEnd: UInt64 = 0
  /// The durable end that the last mark of this session names.
  var markedEnd: UInt64 = 0
  /// Whether more is durable than the journal says.
  var awaitsMark: Bool { end > markedEnd }
  var failure: LogStoreError?

  /// A closed journal that ends at `end`. Its close mark says that all in front of it is durable; whether it is so itself
  /// only that process was told which wrote it.
  static func closed(at end: UInt64, lsn: UInt64) -> Durable { Durable(end: end - UInt64(Mark.frameBytes), lsn: lsn) }
}

/// That, shared by the writer and by those who sync beside it. What every write asks for is read without the lock.
final class DurableState: Sendable {
  private let state = Mutex(Durable())
  private let latestEnd = Atomic<UInt64>(0)
  private let isAwaitingMark = Atomic<Bool>(false)
  private let isFailed = Atomic<Bool>(false)

  func withLock<Result>(_ body: (inout Durable) -> Result) -> Result {
    state.withLock { durable in
      let result = body(&durable)
      // In this order: whoever sees that a mark is due, also sees the end that it has to name.
      latestEnd.store(durable.end, ordering: .releasing)
      isAwaitingMark.store(durable.awaitsMark, ordering: .releasing)
      isFailed.store(durable.failure != nil, ordering: .releasing)
      return result
    }
  }

  var end: UInt64 { latestEnd.load(ordering: .acquiring) }
  var awaitsMark: Bool { isAwaitingMark.load(ordering: .acquiring) }
  var hasFailed: Bool { isFailed.load(ordering: .acquiring) }
}
