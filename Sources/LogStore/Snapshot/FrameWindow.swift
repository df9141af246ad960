/// Reads frames one after another through a buffer that moves along the file. One thread at a time.
final class FrameWindow {
  let source: SnapshotSource
  let buffer: ByteBuffer
  /// Where in the file the buffer's first byte stands.
  private(set) var start: UInt64 = 0
  private let readAhead: Int

  /// The checksum of the file's first `digested` bytes, where `digests` asks for it.
  private(set) var digest: UInt32 = 0
  private var digested: UInt64 = 0
  private let digests: Bool

  /// What a read is, unless a frame needs more.
  static let readBytes = 256 << 10
  /// Memory that an unusually large frame may leave behind.
  private static let keptBytes = 1 << 20

  init(_ source: SnapshotSource, readAhead: Int = FrameWindow.readBytes, digests: Bool = false) {
    self.source = source
    self.readAhead = readAhead
    self.digests = digests
    buffer = ByteBuffer()
  }

  /// A frame that verifies; its payload stands in the buffer until the next one is asked for.
  struct Frame {
    var type: FrameType
    var payload: Range<Int>
    /// Where in the file it ends.
    var end: UInt64
  }

  /// The frame at `offset`; nil if none verifies there in front of `limit`, or of `end`, where what stands there has a
  /// place of its own: reading ahead goes to `limit` all the same.
  func frame(at offset: UInt64, limit: UInt64, end: UInt64? = nil) throws(LogStoreError) -> Frame? {
    let end = min(end ?? limit, limit)
    guard offset < end, limit <= source.size else { return nil }
    var needed = Limits.frameOverhead
    while true {
      guard UInt64(needed) <= end - offset else { return nil }
      try fill(offset, needed, limit)
      let position = Int(offset - start)
      let available = Int(min(UInt64(buffer.count - position), end - offset))
      switch source.codec.check(buffer, position, available: available, offset: offset) {
      case .good(let type, let length):
        if type.kind.isReserved { throw .newerSnapshot(source.path, offset) }
        let payload = position + Limits.frameOverhead
        return Frame(
          type: type, payload: payload..<payload + length, end: offset + UInt64(Limits.frameOverhead + length))
      case .bad: return nil
      case .needs(let bytes): needed = bytes
      }
    }
  }

  /// The bytes that damage at `offset` is reported for: those of the frame, by its own length, if they lie in front of
  /// `limit`, the end of its section; otherwise all up to there.
  func damagedRange(at offset: UInt64, limit: UInt64) throws(LogStoreError) -> Range<UInt64> {
    guard offset < limit, limit - offset >= UInt64(Limits.frameOverhead) else { return offset..<max(offset, limit) }
    try fill(offset, Limits.frameOverhead, limit)
    let position = Int(offset - start)
    let length = buffer.lend(position..<position + 4) { $0.u32(0) }
    let span = UInt64(length) + UInt64(Limits.frameOverhead)
    return offset..<(span <= limit - offset ? offset + span : limit)
  }

  /// Takes everything in front of `offset` into the digest.
  func digest(upTo offset: UInt64) throws(LogStoreError) {
    while digested < offset {
      let next = digested
      try fill(next, 1, offset)
      note(upTo: min(offset, start + UInt64(buffer.count)))
    }
  }

  /// Makes sure that `needed` bytes from `offset` on are in the buffer; they lie in front of `limit`.
  private func fill(_ offset: UInt64, _ needed: Int, _ limit: UInt64) throws(LogStoreError) {
    if offset >= start, offset - start <= UInt64(buffer.count),
      buffer.count - Int(offset - start) >= needed
    {
      return
    }
    if digests, offset > digested { try digest(upTo: offset) }
    if offset >= start, offset - start <= UInt64(buffer.count) {
      buffer.removeFirst(Int(offset - start))
    } else {
      buffer.count = 0
    }
    start = offset
    if buffer.capacity > FrameWindow.keptBytes, max(needed, buffer.count) <= FrameWindow.keptBytes {
      buffer.trim(to: FrameWindow.keptBytes)
    }
    // Who digests will want what is behind the limit too.
    let wanted = Int(min(UInt64(max(needed, readAhead)), (digests ? source.size : limit) - offset))
    guard wanted > buffer.count else { return }
    let end = start + UInt64(buffer.count)
    try source.read(appendingTo: buffer, count: wanted - buffer.count, at: end)
  }

  /// Digests what the buffer holds from `digested` to `end`.
  private func note(upTo end: UInt64) {
    let from = Int(digested - start)
    digest = buffer.checksum(digest, from..<Int(end - start))
    digested = end
  }
}
