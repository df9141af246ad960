/// Reads a snapshot back as it was written, from front to back and once, as far as it is told that there is something
/// to be read; then judges the whole: the checksum of all bytes is that of what was handed over to be written, every
/// frame verifies where it stands, header and footer are those that were written, and the order table gives every record
/// the place where it was found. One thread at a time.
///
/// What rots on the medium behind it is not noticed here.
struct SnapshotReadBack {
  private let file: any StorageFile
  private let path: String
  private let header: SnapshotHeader
  /// No frame of this snapshot is longer.
  private let longestFrame: Int
  private var frames: SnapshotFrames
  private let buffer = ByteBuffer()
  /// Where the buffer's first byte stands in the file, and in the buffer the frame that is next.
  private var start: UInt64 = 0
  private var position = 0
  /// Of all bytes up to `end`.
  private var checksum: UInt32 = 0
  /// How far the file was read.
  private(set) var end: UInt64 = 0

  static let readBytes = 256 << 10

  init(_ file: any StorageFile, path: String, header: SnapshotHeader, settings: SnapshotWriter.Settings) {
    self.file = file
    self.path = path
    self.header = header
    longestFrame = max(settings.partBytes, SnapshotLayout.blockBytes) + 2 * Limits.keyBytes
    frames = SnapshotFrames(isTable: header.state == 0)
    file.willReadSequentially()
  }

  /// Reads on up to `end`, from the medium as far as that can be asked for: what stands there must be written out.
  mutating func advance(to end: UInt64, progress: ProgressHandler? = nil) throws(LogStoreError) {
    guard end > self.end else { return }
    file.dropCache(self.end..<end)
    var reported = self.end
    while self.end < end {
      try read(upTo: end)
      try walk()
      guard let progress, self.end - reported >= 4 << 20 || self.end == end else { continue }
      reported = self.end
      guard progress(Progress(.checking, completedBytes: self.end, totalBytes: end)) else { throw cancelled() }
    }
  }

  /// The blocks at these offsets, which come next, were inflated before they were written.
  mutating func note(inflated offsets: [UInt64]) { frames.note(inflated: offsets) }

  /// Judges the whole, all of which was read.
  mutating func finish(_ footer: SnapshotFooter) throws(LogStoreError) {
    let size: UInt64
    do throws(StorageError) { size = try file.status().size } catch { throw LogStoreError(error) }
    guard size == end else { throw mismatch(min(size, end)) }
    guard position == buffer.count else { throw mismatch(start + UInt64(position)) }
    if let fault = frames.fault(footer, end: end) { throw mismatch(fault) }
    let last = ByteBuffer()
    footer.append(frameTo: last, at: end - UInt64(SnapshotLayout.footerFrameBytes), FrameCodec(salt: header.salt))
    guard checksum == last.checksum(footer.checksum, 0..<last.count) else { throw mismatch(0) }
  }

  private mutating func read(upTo end: UInt64) throws(LogStoreError) {
    buffer.removeFirst(position)
    start += UInt64(position)
    position = 0
    let held = buffer.count
    let wanted = Int(min(end - self.end, UInt64(SnapshotReadBack.readBytes)))
    let done: Int
    do throws(StorageError) {
      done = try file.read(appendingTo: buffer, count: wanted, at: self.end)
    } catch {
      throw LogStoreError(error, offset: self.end)
    }
    guard done == wanted else { throw mismatch(self.end + UInt64(done)) }
    checksum = buffer.checksum(checksum, held..<buffer.count)
    self.end += UInt64(wanted)
  }

  /// Judges the frames that are in memory.
  private mutating func walk() throws(LogStoreError) {
    if start == 0, position == 0 {
      guard buffer.count >= Limits.headerBytes else { return }
      let found = buffer.lend(0..<Limits.headerBytes) { SnapshotHeader.decode($0, generation: header.generation) }
      guard found == .header(header) else { throw mismatch(0) }
      position = Limits.headerBytes
    }
    let codec = FrameCodec(salt: header.salt)
    while true {
      let offset = start + UInt64(position)
      switch codec.check(buffer, position, available: buffer.count - position, offset: offset) {
      case .needs(let bytes):
        guard bytes <= longestFrame else { throw mismatch(offset) }
        return
      case .bad: throw mismatch(offset)
      case .good(let type, let length):
        let payload = position + Limits.frameOverhead..<position + Limits.frameOverhead + length
        guard buffer.lend(payload, { frames.take(type, $0, at: offset) }) else { throw mismatch(offset) }
        position = payload.upperBound
      }
    }
  }

  func cancelled() -> LogStoreError {
    LogStoreError(.cancelled, "cancelled while the snapshot was read", path: path)
  }

  private func mismatch(_ offset: UInt64) -> LogStoreError {
    LogStoreError(
      .damaged, "the snapshot did not read back as it was written; the page goes on as it was; check the medium",
      path: path, offset: offset)
  }
}
