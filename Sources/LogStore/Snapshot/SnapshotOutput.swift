/// A file written from front to back through one buffer, with the checksum of all that went into it.
final class SnapshotOutput {
  let file: any StorageFile
  let buffer: ByteBuffer
  private var written: UInt64 = 0
  private var checksum: UInt32 = 0
  /// How much of the buffer the checksum covers.
  private var checked = 0

  static let bufferBytes = 256 << 10

  init(_ file: any StorageFile) {
    self.file = file
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

  @inline(__always)
  func flushIfFull() throws(StorageError) {
    if buffer.count >= SnapshotOutput.bufferBytes { try flush() }
  }

  func flush() throws(StorageError) {
    _ = sum()
    try file.write(buffer, 0..<buffer.count, at: written)
    written += UInt64(buffer.count)
    buffer.count = 0
    checked = 0
  }
}
