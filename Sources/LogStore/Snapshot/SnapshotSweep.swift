/// Reads runs of records in page order, with large reads and without an allocation a record. One thread at a time; a
/// sweep over many ranges keeps what it has read from one to the next.
final class SnapshotSweep {
  private let reader: SnapshotReader
  private let window: FrameWindow
  /// A value's parts, put together.
  private let assembly = ByteBuffer()
  private let inflater = Inflater()
  private var block: Block?

  private struct Block {
    var offset: UInt64
    var end: UInt64
    var records: Range<Int>
    var bytes: [UInt8]
  }

  init(_ reader: SnapshotReader) {
    self.reader = reader
    window = FrameWindow(reader.source)
  }

  /// Calls `body` with each record of `range`, until it returns false. The spans are valid during the call.
  /// Returns whether all were visited.
  @discardableResult
  func forEach(
    in range: Range<Int>, _ body: (_ key: RawSpan, _ value: RawSpan) throws -> Bool
  ) throws -> Bool {
    guard !range.isEmpty else { return true }
    let first = try reader.place(of: range.lowerBound)
    let last = try reader.place(of: range.upperBound - 1)
    let limit = last.offset + UInt64(last.span)
    var offset = first.offset
    var index = range.lowerBound
    while index < range.upperBound {
      if let block, block.offset == offset {
        guard try visit(block, &index, range, body) else { return false }
        offset = block.end
        continue
      }
      guard let frame = try window.frame(at: offset, limit: limit) else {
        throw reader.source.damaged(offset, "record \(index) does not verify")
      }
      switch frame.type.kind {
      case .record where frame.type.isFirst && frame.type.isLast:
        let places = window.buffer.lend(frame.payload) { RecordFormat.record($0, at: frame.payload.lowerBound) }
        guard let places else { throw reader.source.damaged(offset, "record \(index) is malformed") }
        guard try window.buffer.lend(places.key, places.value, body) else { return false }
        index += 1
        offset = frame.end
      case .block where frame.type.isFirst && frame.type.isLast:
        try open(frame, at: offset, for: index)
      case .part where frame.type.isFirst && !frame.type.isLast:
        let end = try assemble(from: frame, index, limit)
        guard try assembly.lend(key, value, body) else { return false }
        index += 1
        offset = end
      default:
        throw reader.source.misplaced(frame.type.kind, offset, expected: "record \(index)")
      }
    }
    guard offset == limit else {
      throw reader.source.damaged(offset, "records and order table do not belong together")
    }
    return true
  }

  private var key = 0..<0
  private var value = 0..<0

  private func visit(
    _ block: Block, _ index: inout Int, _ range: Range<Int>,
    _ body: (_ key: RawSpan, _ value: RawSpan) throws -> Bool
  ) throws -> Bool {
    guard block.records.contains(index) else {
      throw reader.source.damaged(block.offset, "record \(index) is not in its block")
    }
    var position = 0
    for at in block.records where at < range.upperBound {
      let places = block.bytes.lend(0..<block.bytes.count) { RecordFormat.checkedBlockRecord($0, at: position) }
      position = places.value.upperBound
      guard at >= index else { continue }
      guard try block.bytes.lend(places.key, places.value, body) else { return false }
      index += 1
    }
    return true
  }

  private func open(_ frame: FrameWindow.Frame, at offset: UInt64, for index: Int) throws(LogStoreError) {
    let opened = window.buffer.lend(frame.payload) { payload -> (Range<Int>, [UInt8])? in
      guard let head = BlockHead(payload, count: reader.count), let bytes = head.inflate(payload, with: inflater)
      else { return nil }
      return (head.records, bytes)
    }
    guard let opened, opened.0.contains(index) else {
      throw reader.source.damaged(offset, "the block of record \(index) is malformed")
    }
    block = Block(offset: offset, end: frame.end, records: opened.0, bytes: opened.1)
  }

  /// Copies the parts that begin with `frame` and the record behind them together; returns where they end.
  private func assemble(
    from frame: FrameWindow.Frame, _ index: Int, _ limit: UInt64
  ) throws(LogStoreError) -> UInt64 {
    let parts = try PartAssembler.assemble(from: frame, in: window, into: assembly, limit: limit)
    guard parts.type.kind == .record,
      let places = assembly.lend(parts.last, { RecordFormat.record($0, at: parts.last.lowerBound) })
    else { throw reader.source.damaged(parts.offset, "record \(index) does not end as it should") }
    // Parts, then the record's head and key: the value's end goes where the head stands, the key behind it.
    key = places.key
    value = 0..<0
    let bytes = assembly.lend(places.key) { $0.array }
    assembly.close(parts.last.lowerBound..<places.value.lowerBound)
    value = 0..<assembly.count
    key = assembly.count..<assembly.count + bytes.count
    bytes.lend(0..<bytes.count) { assembly.append($0) }
    return parts.end
  }
}
