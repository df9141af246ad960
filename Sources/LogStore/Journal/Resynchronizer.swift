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
    let next = try pointedTo(from: fault)
    return try search(from: fault + 1, upTo: next ?? limit) ?? next
  }

  /// The place that the length at the fault leads to, if a frame verifies there. That length may itself be what is wrong,
  /// and lead over frames that are whole: so it counts only where the search finds nothing in front of it.
  private func pointedTo(from fault: UInt64) throws(LogStoreError) -> UInt64? {
    let head = try unsafe reader.read(at: fault, count: Limits.frameOverhead)
    guard head.count >= Limits.frameOverhead, let base = head.baseAddress else { return nil }
    let length = unsafe UInt64(base.load(0, as: UInt32.self))
    let next = fault + UInt64(Limits.frameOverhead) + length
    guard length <= UInt64(Limits.payloadBytes), next < limit, let frame = try reader.frame(at: next),
      frame.end <= limit
    else { return nil }
    return next
  }

  /// The first place from `start` on whose frame ends at or in front of `end`.
  private func search(from start: UInt64, upTo end: UInt64) throws(LogStoreError) -> UInt64? {
    var from = start
    while from + UInt64(Limits.frameOverhead) <= end {
      let segment = try CandidateSearch(reader.window.file, seed: reader.codec.seed, from: from, limit: end)
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
