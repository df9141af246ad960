/// Putting frames into the output, and table entries where they wait.
extension SnapshotWriter {
  /// Writes the gathered records, deflated or not.
  func closeBlock() throws(StorageError) {
    guard let blocks, !blocks.isEmpty else { return }
    let count = blocks.records
    if blocks.deflate() {
      let rawLength = blocks.raw.count
      try blocks.deflated.lend(0..<blocks.deflated.count) { (deflated: RawSpan) throws(StorageError) in
        try writeBlock(deflated, records: count, rawLength: rawLength)
      }
    } else {
      let raw = blocks.raw
      var position = 0
      for _ in 0..<count {
        let places = raw.lend(0..<raw.count) { RecordFormat.checkedBlockRecord($0, at: position) }
        try raw.lend(places.key, places.value) { (key: RawSpan, value: RawSpan) throws(StorageError) in
          try writeRecord(key, value)
        }
        position = places.value.upperBound
      }
    }
    blocks.clear()
  }

  /// Writes a block's frame, of the records that come next. `isInflated`, and reading back need not inflate it: that the
  /// bytes are the same is enough.
  func writeBlock(_ deflated: RawSpan, records: Int, rawLength: Int, isInflated: Bool = false) throws(StorageError) {
    let start = output.buffer.openFrame()
    output.buffer.append(order.count)
    output.buffer.append(UInt32(truncatingIfNeeded: records))
    output.buffer.append(UInt32(truncatingIfNeeded: rawLength))
    output.buffer.append(deflated)
    let offset = output.offset(of: start)
    output.buffer.sealFrame(start, FrameType(.block), offset: offset, codec: codec)
    let span = output.buffer.count - start
    if isInflated { output.noteInflated(offset) }
    for _ in 0..<records { order.add(offset: offset, span: span) }
    try output.flushIfFull()
    try spillIfMany()
  }

  @inline(__always)
  func writeRecord(_ key: RawSpan, _ value: RawSpan) throws(StorageError) {
    let buffer = output.buffer
    let start = buffer.openFrame()
    buffer.append(UInt16(truncatingIfNeeded: key.byteCount))
    buffer.append(key)
    buffer.append(value)
    let offset = output.offset(of: start)
    buffer.sealFrame(start, FrameType(.record), offset: offset, codec: codec)
    order.add(offset: offset, span: buffer.count &- start)
    try output.flushIfFull()
    try spillIfMany()
  }

  func writeFrame(_ type: FrameType, _ payload: RawSpan) throws(StorageError) {
    let start = output.buffer.openFrame()
    output.buffer.append(payload)
    output.buffer.sealFrame(start, type, offset: output.offset(of: start), codec: codec)
    try output.flushIfFull()
  }

  @inline(__always)
  func spillIfMany() throws(StorageError) {
    guard order.count >= UInt64(settings.entriesInMemory), order.hasChunk || spool == nil else { return }
    try spill()
  }

  private func spill() throws(StorageError) {
    if let spool { return try order.spill(to: spool) }
    let spool = try TableSpool(directory, tablesName)
    self.spool = spool
    try keys.spill(to: spool)
    try order.spill(to: spool)
  }
}
