/// A file written from front to back through one buffer, with the checksum of all that went into it.
///
/// It is written in whole pieces, but for the end: no page of the system's is written out and then changed again.
final class SnapshotOutput {
  let file: any StorageFile
  let buffer: ByteBuffer
  /// Is told what is written.
  private let readBack: ReadBackThread?
  private let pieceBytes: Int
  private var written: UInt64 = 0
  private var checksum: UInt32 = 0
  /// How much of the buffer the checksum covers.
  private var checked = 0
  /// Blocks not yet told of that came from another snapshot, where they were inflated.
  private var inflated: [UInt64] = []

  static let pieceBytes = 256 << 10

  init(_ file: any StorageFile, _ readBack: ReadBackThread? = nil, pieceBytes: Int = SnapshotOutput.pieceBytes) {
    self.file = file
    self.readBack = readBack
    self.pieceBytes = pieceBytes
    buffer = ByteBuffer(capacity: 16 << 10)
  }

  /// Where the next byte goes.
  var offset: UInt64 { written + UInt64(buffer.count) }

  /// Where the frame that begins at `start` of the buffer begins in the file.
  func offset(of start: Int) -> UInt64 { written + UInt64(start) }

  /// The checksum of everything so far.
  func sum() -> UInt32 {
    checksum = buffer.checksum(checksum, checked..<buffer.count)
    checked = buffer.count
    return checksum
  }

  /// Frames that are sealed go to the file once they fill a piece.
  @inline(__always)
  func flushIfFull() throws(StorageError) {
    if buffer.count >= pieceBytes { try write(buffer.count / pieceBytes * pieceBytes) }
  }

  /// Everything goes to the file.
  func flush() throws(StorageError) { try write(buffer.count) }

  private func write(_ count: Int) throws(StorageError) {
    _ = sum()
    try file.write(buffer, 0..<count, at: written)
    written += UInt64(count)
    buffer.removeFirst(count)
    checked -= count
    readBack?.wrote(upTo: written, inflated: inflated)
    inflated.removeAll(keepingCapacity: true)
  }

  /// The block whose frame begins at `offset`, and is to be written next, was inflated before.
  func noteInflated(_ offset: UInt64) { inflated.append(offset) }

  /// Nothing reads or writes the file any more.
  func close() {
    readBack?.stop()
    file.close()
  }
}
