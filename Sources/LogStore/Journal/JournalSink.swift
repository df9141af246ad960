/// Receives the batches of a journal as they are replayed.
protocol JournalSink {
  /// A frame of the open batch: an operation or a part. Its bytes are good during the call only.
  mutating func take(_ frame: JournalFrame) throws(LogStoreError)
  /// The open batch is whole. `start` and `end` are its bytes, `lsn` is the LSN after it.
  /// Returns false to stop the replay behind it.
  mutating func commit(_ batch: ReplayedBatch) throws(LogStoreError) -> Bool
  /// The open batch is not whole: forget its frames.
  mutating func abandon()
  /// A mark that stands in its place.
  mutating func mark(_ mark: Mark, _ frame: JournalFrame)
  /// A loss that stands in its place.
  mutating func loss(_ frame: JournalFrame)
}

extension JournalSink {
  mutating func mark(_ mark: Mark, _ frame: JournalFrame) {}
  mutating func loss(_ frame: JournalFrame) {}
}

/// A whole batch of a journal.
struct ReplayedBatch {
  var start: UInt64
  var end: UInt64
  /// The LSN in front of the batch.
  var baseLSN: UInt64
  /// Operations in the batch.
  var operations: UInt64
  var lsn: UInt64 { baseLSN &+ operations }
}

/// What replaying one journal came to.
struct JournalOutcome {
  /// The end of the last whole batch (or of a dropped range behind it).
  var good = UInt64(Limits.headerBytes)
  /// The LSN there.
  var lsn: UInt64 = 0
  /// The LSN at the initial length: behind the batches that the journal carried on from its predecessor.
  var initialLSN: UInt64 = 0
  /// Below here everything had been durable.
  var durableEnd: UInt64 = 0
  var tornTail: Range<UInt64>?
  var dropped: [DroppedRange] = []
  /// Bytes that should be there and are not.
  var missing: Range<UInt64>?
  /// Whether the last frame is a close mark, at the very end.
  var isClosed = false
  /// Whether a session may go on behind the close mark: all in front of it was durable when it was written.
  var mayGoOn: Bool { isClosed && durableEnd + UInt64(Mark.frameBytes) == good }
  /// Whether the replay stopped in front of damage, or where the sink said so.
  var stoppedAtDamage = false
  var stoppedBySink = false
  var frames: UInt64 = 0
  var batches: UInt64 = 0
  var operations: UInt64 = 0
  var lastMark: Mark?
  /// Whether a mark's clock is behind that of an earlier one.
  var clockRanBack = false

  var isRegular: Bool { tornTail == nil && dropped.isEmpty && missing == nil && !stoppedAtDamage }
}

/// Bytes that did not verify although they had been durable, with the rest of their batch.
struct DroppedRange: Hashable {
  var range: Range<UInt64>
  /// Where the frame stood that did not verify.
  var fault: UInt64
  /// The LSN in front of the range, and the operations lost at most.
  var lsn: UInt64
  var lost: UInt64
  var keys: [[UInt8]]
}
