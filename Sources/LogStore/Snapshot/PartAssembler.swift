/// Puts together what was too long for one frame.
enum PartAssembler {
  struct Assembled {
    /// The last frame: its type, where it stands in the file, and its payload in the buffer, behind those of the parts.
    var type: FrameType
    var offset: UInt64
    var last: Range<Int>
    /// Where the batch ends.
    var end: UInt64
  }

  /// Copies the payloads of the batch that begins with the part `first` into `target`.
  static func assemble(
    from first: FrameWindow.Frame, in window: FrameWindow, into target: ByteBuffer, limit: UInt64
  ) throws(LogStoreError) -> Assembled {
    target.count = 0
    target.append(window.buffer, first.payload)
    var offset = first.end
    while true {
      guard let frame = try window.frame(at: offset, limit: limit), !frame.type.isFirst else {
        throw window.source.damaged(offset, "a part of a long value does not verify")
      }
      let start = target.count
      target.append(window.buffer, frame.payload)
      if frame.type.isLast {
        return Assembled(type: frame.type, offset: offset, last: start..<target.count, end: frame.end)
      }
      guard frame.type.kind == .part, target.count <= Limits.batchBytes else {
        throw window.source.damaged(offset, "a long value is malformed")
      }
      offset = frame.end
    }
  }
}
