/// Runs of records, and an application's own frames.
extension SnapshotReader {
  /// Calls `body` with each record of `range` in page order, until it returns false. The spans are valid during the
  /// call. For many short ranges keep a `SnapshotSweep`.
  @discardableResult
  func forEach(
    in range: Range<Int>, _ body: (_ key: RawSpan, _ value: RawSpan) throws -> Bool
  ) throws -> Bool {
    try SnapshotSweep(self).forEach(in: range, body)
  }

  /// Calls `body` with each frame of an application's own state, long ones put together. The span is valid during the
  /// call.
  func applicationFrames(_ body: (FrameKind, RawSpan) throws -> Void) throws {
    guard header.state != 0 else { return }
    let window = FrameWindow(source)
    let assembly = ByteBuffer()
    let limit = footer.orderOffset
    var offset = footer.recordsOffset
    var seen: UInt64 = 0
    while offset < limit {
      guard let frame = try window.frame(at: offset, limit: limit) else {
        throw source.damaged(offset, "a frame of the application's state does not verify")
      }
      if frame.type.kind == .part, frame.type.isFirst, !frame.type.isLast {
        let parts = try PartAssembler.assemble(from: frame, in: window, into: assembly, limit: limit)
        guard parts.type.kind.isApplication else {
          throw source.misplaced(parts.type.kind, parts.offset, expected: "an application's frame")
        }
        try assembly.lend(0..<assembly.count) { span throws in try body(parts.type.kind, span) }
        offset = parts.end
      } else {
        guard frame.type.kind.isApplication, frame.type.isFirst, frame.type.isLast else {
          throw source.misplaced(frame.type.kind, offset, expected: "an application's frame")
        }
        try window.buffer.lend(frame.payload) { span throws in try body(frame.type.kind, span) }
        offset = frame.end
      }
      seen += 1
    }
    guard seen == footer.count else {
      throw source.damaged(limit, "there are \(seen) frames of the application's state, not \(footer.count)")
    }
  }
}
