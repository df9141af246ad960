/// Collects where the records are, then writes the order table. Entries stand here as they will stand in the file.
struct OrderTableWriter {
  private let entries = ByteBuffer()
  private var chunks: [UInt64] = []
  private(set) var count: UInt64 = 0

  /// A chunk in the spool: whole frames' worth.
  private static let chunkBytes = 64 * SnapshotLayout.orderEntries * SnapshotLayout.orderEntryBytes

  @inline(__always)
  mutating func add(offset: UInt64, span: Int) {
    entries.append(offset)
    entries.append(UInt32(truncatingIfNeeded: span))
    count &+= 1
  }

  /// Writes whole chunks to the spool.
  mutating func spill(to spool: TableSpool) throws(StorageError) {
    let size = OrderTableWriter.chunkBytes
    let chunk = ByteBuffer(capacity: size)
    var done = 0
    while entries.count - done >= size {
      chunk.append(entries, done..<done + size)
      chunks.append(try spool.append(chunk))
      done += size
    }
    entries.removeFirst(done)
    entries.trim(to: size)
  }

  /// Whether a spill would move anything.
  var hasChunk: Bool { entries.count >= OrderTableWriter.chunkBytes }

  func write(to output: SnapshotOutput, codec: FrameCodec, spool: TableSpool?) throws(StorageError) {
    if let spool {
      let chunk = ByteBuffer(capacity: OrderTableWriter.chunkBytes)
      for place in chunks {
        chunk.count = 0
        try spool.read(place, count: OrderTableWriter.chunkBytes, into: chunk)
        try write(chunk, to: output, codec)
      }
    }
    try write(entries, to: output, codec)
  }

  private func write(_ entries: ByteBuffer, to output: SnapshotOutput, _ codec: FrameCodec) throws(StorageError) {
    var done = 0
    while done < entries.count {
      let size = min(SnapshotLayout.orderEntries * SnapshotLayout.orderEntryBytes, entries.count - done)
      let start = output.buffer.openFrame()
      output.buffer.append(entries, done..<done + size)
      output.buffer.sealFrame(start, FrameType(.order), offset: output.offset(of: start), codec: codec)
      try output.flushIfFull()
      done += size
    }
  }
}
