/// Finds where a damaged journal verifies again, in time proportional to the bytes searched.
///
/// Trying a candidate costs the same whatever length it claims: the checksum of its payload comes from the checksums of
/// two prefixes of the file, combined as zlib's `crc32_combine` does.
struct Resynchronizer {
  private let reader: JournalReader
  private let limit: UInt64

  /// Nothing behind `limit` counts.
  init(_ reader: JournalReader, limit: UInt64) {
    self.reader = reader
    self.limit = limit
  }

  /// The first place behind the fault at `fault` to go on from; nil if nothing verifies behind it.
  func resume(after fault: UInt64) throws(LogStoreError) -> UInt64? {
    let head = try unsafe reader.read(at: fault, count: Limits.frameOverhead)
    if head.count >= Limits.frameOverhead, let base = head.baseAddress {
      let length = unsafe UInt64(base.load(0, as: UInt32.self))
      let next = fault + UInt64(Limits.frameOverhead) + length
      if length <= UInt64(Limits.payloadBytes), next < limit, let frame = try reader.frame(at: next), frame.end <= limit
      {
        return next
      }
    }
    return try search(from: fault + 1)
  }

  private func search(from start: UInt64) throws(LogStoreError) -> UInt64? {
    var from = start
    while from + UInt64(Limits.frameOverhead) <= limit {
      let segment = try CandidateSearch(reader.window.file, seed: reader.codec.seed, from: from, limit: limit)
      while let candidate = segment.nextCandidate() {
        if try isAccepted(candidate) { return candidate }
      }
      from = segment.end
    }
    return nil
  }

  /// One frame that verifies by chance is too likely in a large file; two in a row, or a mark, are not.
  private func isAccepted(_ offset: UInt64) throws(LogStoreError) -> Bool {
    guard let frame = try reader.frame(at: offset) else { return false }
    if frame.kind == .mark || frame.end == limit { return true }
    guard let next = try reader.frame(at: frame.end) else { return false }
    return next.end <= limit
  }
}
