/// Gathers the operations of whole batches and hands them to the table, a block at a time.
struct RecordSink: JournalSink {
  private let table: RecordTable
  private let file: UInt32
  private let hash: KeyHash
  private var block: OperationBlock
  /// Where blocks go from when it is known that many come.
  private var feed: TableFeed?
  private let startHelper: HelperStart?
  /// Operations of whole batches, and where they end; those behind belong to the open one.
  private var whole = 0
  private var wholeEnd = 0
  /// Where the first part of a long value stands.
  private var valueStart: UInt64?

  /// Bytes of journal that come; nil once the table was prepared for them.
  private var ahead: UInt64?

  /// A block as large as this is handed over: it stays in the processor's nearest cache …
  private static let operations = 512
  /// … or, where it goes to another thread, costs little beside what is in it.
  private static let operationsFed = 4096
  /// Bytes of journal for which another thread is worth its while.
  private static let bytesFed: UInt64 = 4 << 20
  /// The table is prepared for at most so many records: what it takes then is a small part of what they will.
  private static let mostExpected: UInt64 = 800_000

  init(_ table: RecordTable, file: Int, block: OperationBlock, ahead: UInt64, startHelper: HelperStart?) {
    self.table = table
    self.startHelper = startHelper
    hash = table.hash
    self.ahead = ahead
    self.file = UInt32(file)
    self.block = block
  }

  @inline(__always)
  mutating func take(_ frame: JournalFrame) throws(LogStoreError) {
    if frame.kind == .part {
      if valueStart == nil { valueStart = frame.offset }
      return
    }
    let start = valueStart ?? frame.offset
    valueStart = nil
    let location = ValueLocation(file: file, offset: start, length: UInt32(truncatingIfNeeded: frame.end - start))
    if frame.kind == .put {
      let none = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
      unsafe block.append(.put, key: frame.key, before: none, location: location, hash: hash)
    } else {
      takeOther(frame, location)
    }
  }

  @inline(never)
  private func takeOther(_ frame: JournalFrame, _ location: ValueLocation) {
    // An application's own frames among a table's operations mean nothing to the table.
    guard let kind = TableOperationKind(frame.kind, hasAnchor: unsafe frame.before.count > 0) else { return }
    unsafe block.append(kind, key: frame.key, before: frame.before, location: location, hash: hash)
  }

  @inline(__always)
  mutating func commit(_ batch: ReplayedBatch) throws(LogStoreError) -> Bool {
    whole = block.count
    wholeEnd = block.end
    if whole >= (feed == nil ? RecordSink.operations : RecordSink.operationsFed) {
      try flush()
      if let ahead { prepare(for: ahead, after: batch.end) }
    }
    return true
  }

  /// Makes room in the table for the records to come, going by what the first operations gave.
  private mutating func prepare(for bytes: UInt64, after end: UInt64) {
    ahead = nil
    if let records = table.smallOverlayCount, end > 0 {
      let (expected, overflow) = UInt64(records).multipliedReportingOverflow(by: bytes / end)
      if expected > 4 * UInt64(records) {
        table.reserve(records: Int(overflow ? Self.mostExpected : min(expected, Self.mostExpected)))
      }
    }
    if let startHelper, bytes >= Self.bytesFed { feed = TableFeed(table, start: startHelper) }
  }

  mutating func abandon() {
    block.truncate(to: whole, end: wholeEnd)
    valueStart = nil
  }

  /// Hands over what is gathered.
  mutating func finish() throws(LogStoreError) {
    abandon()
    try flush()
  }

  /// Returns when the table has what was handed over. To be called in any case: it ends the other thread.
  mutating func end() throws(LogStoreError) {
    defer { feed = nil }
    try feed?.finish()
  }

  private mutating func flush() throws(LogStoreError) {
    if let feed {
      block = try feed.exchange(block)
    } else {
      try table.absorb(block)
      block.removeAll()
    }
    whole = 0
    wholeEnd = 0
  }
}

extension TableOperationKind {
  init?(_ kind: FrameKind, hasAnchor: Bool) {
    switch kind {
    case .put: self = .put
    case .putBefore: self = .putBefore
    case .remove: self = .remove
    case .move: self = hasAnchor ? .move : .moveToEnd
    case .clear: self = .clear
    default: return nil
    }
  }
}
