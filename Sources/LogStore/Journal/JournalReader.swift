/// Reads the frames of one journal.
final class JournalReader {
  let name: String
  let path: String
  let header: JournalHeader
  let codec: FrameCodec
  /// Where the log ends for this reader.
  let limit: UInt64
  let window: FileWindow
  /// Whom walks and searches tell how far they have come.
  var progress: ReadingProgress?
  /// What searches behind faults have read, and know of checksums.
  private var search: CandidateSearch?

  init(
    file: any StorageFile, name: String, path: String, header: JournalHeader, from first: UInt64 = 0, limit: UInt64
  ) {
    self.name = name
    self.path = path
    self.header = header
    self.limit = limit
    codec = FrameCodec(salt: header.salt)
    window = FileWindow(file, from: first, limit: limit)
  }

  /// The frame at `offset`, if one verifies there. A frame of a kind that only a newer version knows is an error.
  @inline(__always)
  func frame(at offset: UInt64) throws(LogStoreError) -> JournalFrame? {
    if let search, try search.refutes(offset) { return nil }
    var wanted = Limits.frameOverhead
    while true {
      let bytes = try unsafe read(at: offset, count: wanted)
      guard let base = bytes.baseAddress else { return nil }
      switch unsafe codec.check(base, available: bytes.count, offset: offset) {
      case .bad: return nil
      case .needs(let count):
        // Only as much as is there can be asked for: a length that lies never makes the buffer grow.
        guard UInt64(count) <= limit &- offset, count > wanted else { return nil }
        wanted = count
      case .good(let type, let length):
        let frame = unsafe JournalFrame(type, at: base, length: length, offset: offset)
        switch frame.form(salt: codec.salt) {
        case .good: return frame
        case .malformed: return nil
        case .newer:
          throw LogStoreError(
            .newerVersion,
            "the journal holds frames of kind \(frame.kind.rawValue), which a newer version of LogStore wrote; update",
            path: path, offset: offset)
        }
      }
    }
  }

  /// The frame at `offset`, which has verified before.
  func frame(againAt offset: UInt64) throws(LogStoreError) -> JournalFrame {
    guard let frame = try frame(at: offset) else {
      throw LogStoreError(
        .io, "a batch that verified a moment ago no longer does; check the medium", path: path, offset: offset)
    }
    return frame
  }

  @inline(__always)
  func read(at offset: UInt64, count: Int) throws(LogStoreError) -> UnsafeRawBufferPointer {
    do {
      return try unsafe window.bytes(at: offset, count: count)
    } catch {
      throw LogStoreError(error, offset: offset)
    }
  }

  /// The first place from `offset` on at which the checksum of a frame matches that ends at or in front of `end`.
  func candidate(from offset: UInt64, upTo end: UInt64) throws(LogStoreError) -> UInt64? {
    let search = search ?? CandidateSearch(window.file, seed: codec.seed, limit: limit)
    search.progress = progress
    self.search = search
    return try search.first(from: offset, upTo: end)
  }

  /// Lets go of what searches have read.
  func endSearch() { search = nil }
}
