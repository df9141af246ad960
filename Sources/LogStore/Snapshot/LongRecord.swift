/// A record being written in pieces: in one frame if it fits, otherwise parts of equal size and the rest.
final class LongRecord {
  let key: [UInt8]
  /// Where its first frame begins in the file.
  let offset: UInt64
  /// Bytes of the value that are still to come.
  private(set) var left: Int
  /// Of those, what goes into the frame that is open.
  private var room = 0
  private var frame = 0
  private var isPart = false
  private var isFirst = true

  init(key: [UInt8], valueLength: Int, offset: UInt64) {
    self.key = key
    self.offset = offset
    left = valueLength
  }

  /// Bytes that a record takes in the file; saturated where that is far too many.
  static func span(_ keyLength: Int, _ valueLength: Int, _ partBytes: Int) -> Int {
    guard valueLength <= Limits.batchBytes else { return .max }
    let parts = valueLength / partBytes + 1
    return valueLength + keyLength + 2 + Limits.frameOverhead * (parts + 1)
  }

  /// Opens the next frame.
  func start(_ output: SnapshotOutput, _ partBytes: Int) {
    frame = output.buffer.openFrame()
    isPart = left + key.count + 2 > partBytes
    if isPart {
      room = min(partBytes, left)
    } else {
      room = left
      output.buffer.append(UInt16(truncatingIfNeeded: key.count))
      key.lend(0..<key.count) { output.buffer.append($0) }
    }
  }

  func append(
    _ bytes: RawSpan, _ output: SnapshotOutput, _ codec: FrameCodec, _ partBytes: Int
  ) throws(StorageError) {
    var position = 0
    while position < bytes.byteCount {
      let size = min(room, bytes.byteCount - position)
      output.buffer.append(bytes.extracting(position..<position + size))
      position += size
      room -= size
      left -= size
      if room == 0, isPart {
        let type = FrameType(.part, first: isFirst, last: false)
        output.buffer.sealFrame(frame, type, offset: output.offset(of: frame), codec: codec)
        isFirst = false
        try output.flushIfFull()
        start(output, partBytes)
      }
    }
  }

  /// Seals the last frame; returns how many bytes all of them span.
  func end(_ output: SnapshotOutput, _ codec: FrameCodec) throws(StorageError) -> Int {
    let type = FrameType(.record, first: isFirst)
    output.buffer.sealFrame(frame, type, offset: output.offset(of: frame), codec: codec)
    let span = Int(output.offset - offset)
    try output.flushIfFull()
    return span
  }
}
