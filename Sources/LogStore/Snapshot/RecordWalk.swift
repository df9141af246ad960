/// Goes over the records section one record or block at a time, verifying without putting anything together.
struct RecordWalk {
  private let reader: SnapshotReader
  private let window: FrameWindow
  private let inflater = Inflater()
  /// What the last step went over.
  private(set) var records = 0
  private(set) var frames: UInt64 = 0
  /// Where the last step found damage.
  private(set) var damage: Range<UInt64> = 0..<0

  init(_ reader: SnapshotReader, _ window: FrameWindow) {
    self.reader = reader
    self.window = window
  }

  /// Verifies the record, or block, at `offset`, which begins with record `index`; calls `body` with the keys.
  /// Returns where it ends; nil if it does not verify.
  mutating func next(
    at offset: UInt64, index: Int, _ body: (Int, RawSpan) throws(LogStoreError) -> Void
  ) throws(LogStoreError) -> UInt64? {
    let limit = reader.footer.orderOffset
    let begin = offset
    var offset = offset
    var isFirst = true
    frames = 0
    while let frame = try window.frame(at: offset, limit: limit), frame.type.isFirst == isFirst {
      frames += 1
      isFirst = false
      if frame.type.kind == .part, !frame.type.isLast {
        offset = frame.end
        continue
      }
      guard frame.type.isLast, index < reader.count, frame.end - begin <= UInt64(Limits.batchBytes) else { break }
      if frame.type.kind == .record {
        let places = window.buffer.lend(frame.payload) { RecordFormat.record($0, at: frame.payload.lowerBound) }
        guard let places else { break }
        try window.buffer.lend(places.key) { (key) throws(LogStoreError) in try body(index, key) }
        records = 1
        return frame.end
      }
      guard frame.type.kind == .block, frame.type.isFirst, try block(frame, index, body) else { break }
      return frame.end
    }
    // Without a frame that fails, what fails is the record that does not end.
    damage = offset < limit ? try window.damagedRange(at: offset, limit: limit) : begin..<limit
    return nil
  }

  private mutating func block(
    _ frame: FrameWindow.Frame, _ index: Int, _ body: (Int, RawSpan) throws(LogStoreError) -> Void
  ) throws(LogStoreError) -> Bool {
    guard let head = window.buffer.lend(frame.payload, { BlockHead($0, count: reader.count) }),
      head.records.lowerBound == index,
      let bytes = window.buffer.lend(frame.payload, { head.inflate($0, with: inflater) })
    else { return false }
    var position = 0
    for record in head.records {
      let places = bytes.lend(0..<bytes.count) { RecordFormat.checkedBlockRecord($0, at: position) }
      try bytes.lend(places.key) { (key) throws(LogStoreError) in try body(record, key) }
      position = places.value.upperBound
    }
    records = head.records.count
    return true
  }
}
