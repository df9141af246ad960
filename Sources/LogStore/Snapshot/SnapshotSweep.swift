/// Reads runs of records in page order, with large reads and without an allocation a record. One thread at a time; a
/// sweep over many ranges keeps what it has read from one to the next.
final class SnapshotSweep {
  private let reader: SnapshotReader
  private let window: FrameWindow
  /// A value's parts, put together.
  private let assembly = ByteBuffer()
  private let inflater = Inflater()
  private var block: Block?
  private var ahead: BlocksAhead?
  /// Whether it will go on to the last record, whichever of them it visits.
  private let isWhole: Bool

  struct Block {
    var offset: UInt64
    var end: UInt64
    var records: Range<Int>
    var bytes: [UInt8]
    /// Its frame's, where it was read ahead; otherwise that is in the window while the block is opened.
    var payload: [UInt8]?

    /// Whether a visit of `range` that is at `index` wants all of its records.
    func isWhole(from index: Int, in range: Range<Int>) -> Bool {
      records.lowerBound == index && records.upperBound <= range.upperBound
    }
  }

  init(_ reader: SnapshotReader, isWhole: Bool = false) {
    self.reader = reader
    self.isWhole = isWhole
    window = FrameWindow(reader.source)
  }

  deinit { ahead?.stop() }

  /// How a sweep came to its end.
  enum End {
    /// All records were visited.
    case whole
    /// `body` returned false.
    case stopped
    /// What cannot be read, and the record that was next.
    case failed(LogStoreError, Int)
  }

  /// Calls `body` with each record of `range`, until it returns false. The spans are valid during the call.
  /// Returns whether all were visited.
  @discardableResult
  func forEach(
    in range: Range<Int>, _ body: (_ key: RawSpan, _ value: RawSpan) throws -> Bool
  ) throws -> Bool {
    switch try visit(range, { _, _, _ in false }, body) {
    case .whole: return true
    case .stopped: return false
    case .failed(let error, _): throw error
    }
  }

  /// Is offered each block that verifies and all of whose records are to be visited: as it is deflated, and what that
  /// inflates to. Returns true if it has taken them all; none is visited then.
  typealias BlockTaker = (_ deflated: RawSpan, _ records: RawSpan, _ count: Int) throws -> Bool

  /// The same, where what is thrown is `body`'s or `take`'s.
  func visit(
    _ range: Range<Int>, _ take: BlockTaker,
    _ body: (_ key: RawSpan, _ value: RawSpan) throws -> Bool
  ) throws -> End {
    guard !range.isEmpty else { return .whole }
    var index = range.lowerBound
    var offset: UInt64
    let limit: UInt64
    do throws(LogStoreError) {
      offset = try reader.place(of: index).offset
      let last = try reader.place(of: range.upperBound - 1)
      limit = last.offset + UInt64(last.span)
    } catch {
      return .failed(error, index)
    }
    while index < range.upperBound {
      do throws(LogStoreError) {
        if let next = try ahead?.take(at: offset), next.records.contains(index) { block = next }
      } catch {
        return .failed(error, index)
      }
      if let block, block.offset == offset, block.records.contains(index) {
        if let payload = block.payload, block.isWhole(from: index, in: range),
          try payload.lend(0..<payload.count, { try offer(block, $0, take) })
        {
          index = block.records.upperBound
        } else {
          guard try visit(block, &index, range.upperBound, body) else { return .stopped }
        }
        offset = block.end
        continue
      }
      var goesOn = true
      offset = try window.forEachRecord(from: offset, limit: limit) { (_, key, value) throws in
        goesOn = try body(key, value)
        index += 1
        return goesOn && index < range.upperBound
      }
      guard goesOn else { return .stopped }
      guard index < range.upperBound else { break }
      // What is not in memory yet, or no record in one frame.
      let step: Step
      do throws(LogStoreError) {
        step = try read(at: offset, index, limit)
      } catch {
        return .failed(error, index)
      }
      switch step {
      case .record(let places, let end):
        guard try window.buffer.lend(places.key, places.value, body) else { return .stopped }
        index += 1
        offset = end
      case .assembled(let end):
        guard try assembly.lend(key, value, body) else { return .stopped }
        index += 1
        offset = end
      case .block(let block, let payload):
        readAhead(from: block.end, to: isWhole ? reader.footer.orderOffset : limit)
        if let payload, block.isWhole(from: index, in: range),
          try window.buffer.lend(payload, { try offer(block, $0, take) })
        {
          index = block.records.upperBound
        } else {
          guard try visit(block, &index, range.upperBound, body) else { return .stopped }
        }
        offset = block.end
      }
    }
    guard offset == limit else {
      return .failed(reader.source.damaged(offset, "records and order table do not belong together"), index)
    }
    return .whole
  }

  private func readAhead(from offset: UInt64, to limit: UInt64) {
    if ahead == nil, let start = reader.startHelper, limit - offset >= BlocksAhead.worthwhile {
      ahead = BlocksAhead(reader, start: start)
    }
    ahead?.resume(at: offset, limit: limit)
  }

  private enum Step {
    /// A record in the window.
    case record(RecordPlaces, end: UInt64)
    /// One in `assembly`, at `key` and `value`.
    case assembled(end: UInt64)
    /// A block, and its frame's payload if that is in the window.
    case block(Block, Range<Int>?)
  }

  private func offer(_ block: Block, _ payload: RawSpan, _ take: BlockTaker) throws -> Bool {
    let deflated = payload.extracting(SnapshotLayout.blockHeadBytes..<payload.byteCount)
    return try block.bytes.lend(0..<block.bytes.count) { try take(deflated, $0, block.records.count) }
  }

  /// What stands at `offset`, where record `index` should.
  private func read(at offset: UInt64, _ index: Int, _ limit: UInt64) throws(LogStoreError) -> Step {
    if let block, block.offset == offset { return .block(try checked(block, holds: index), nil) }
    guard let frame = try window.frame(at: offset, limit: limit) else {
      throw reader.source.damaged(offset, "record \(index) does not verify")
    }
    switch frame.type.kind {
    case .record where frame.type.isFirst && frame.type.isLast:
      let places = window.buffer.lend(frame.payload) { RecordFormat.record($0, at: frame.payload.lowerBound) }
      guard let places else { throw reader.source.damaged(offset, "record \(index) is malformed") }
      return .record(places, end: frame.end)
    case .block where frame.type.isFirst && frame.type.isLast:
      return .block(try open(frame, at: offset, for: index), frame.payload)
    case .part where frame.type.isFirst && !frame.type.isLast:
      return .assembled(end: try assemble(from: frame, index, limit))
    default:
      throw reader.source.misplaced(frame.type.kind, offset, expected: "record \(index)")
    }
  }

  private var key = 0..<0
  private var value = 0..<0

  private func checked(_ block: Block, holds index: Int) throws(LogStoreError) -> Block {
    guard block.records.contains(index) else {
      throw reader.source.damaged(block.offset, "record \(index) is not in its block")
    }
    return block
  }

  /// Calls `body` with the records of a block from `index` on, in front of `end`, until it returns false.
  private func visit(
    _ block: Block, _ index: inout Int, _ end: Int,
    _ body: (_ key: RawSpan, _ value: RawSpan) throws -> Bool
  ) throws -> Bool {
    try block.bytes.lend(0..<block.bytes.count) { bytes in
      var position = 0
      for record in block.records where record < end {
        let places = RecordFormat.checkedBlockRecord(bytes, at: position)
        position = places.value.upperBound
        guard record >= index else { continue }
        guard try body(bytes.extracting(places.key), bytes.extracting(places.value)) else { return false }
        index += 1
      }
      return true
    }
  }

  private func open(
    _ frame: FrameWindow.Frame, at offset: UInt64, for index: Int
  ) throws(LogStoreError) -> Block {
    let opened = window.buffer.lend(frame.payload) { payload -> (Range<Int>, [UInt8])? in
      guard let head = BlockHead(payload, count: reader.count), let bytes = head.inflate(payload, with: inflater)
      else { return nil }
      return (head.records, bytes)
    }
    guard let opened, opened.0.contains(index) else {
      throw reader.source.damaged(offset, "the block of record \(index) is malformed")
    }
    let block = Block(offset: offset, end: frame.end, records: opened.0, bytes: opened.1)
    self.block = block
    return block
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
