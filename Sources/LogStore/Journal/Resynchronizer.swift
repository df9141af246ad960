/// Finds where a damaged journal verifies again, in time proportional to the bytes searched.
struct Resynchronizer {
  private let reader: JournalReader
  private let limit: UInt64

  /// Nothing behind `limit`, which is at most the reader's, counts.
  init(_ reader: JournalReader, limit: UInt64) {
    self.reader = reader
    self.limit = limit
  }

  /// The first place behind the fault at `fault` to go on from; nil if nothing verifies behind it.
  ///
  /// Where the length at the fault leads, one frame is enough. But that length may itself be what is wrong, and lead over
  /// frames that are whole: so that place counts only if the search finds nothing in front of it.
  func resume(after fault: UInt64) throws(LogStoreError) -> UInt64? {
    let start = fault + 1
    guard let next = try pointedTo(from: fault) else { return try search(from: start, upTo: limit) }
    let near = try search(from: start, upTo: next)
    // The answer whatever stands at `next`: a frame far away is not read for every fault that happens to lead there.
    if let near, try search(from: start, upTo: limit) == near { return near }
    if let frame = try reader.frame(at: next), frame.end <= limit { return near ?? next }
    return try search(from: start, upTo: limit)
  }

  /// The place that the length at the fault leads to, if it could be one.
  private func pointedTo(from fault: UInt64) throws(LogStoreError) -> UInt64? {
    let head = try unsafe reader.read(at: fault, count: Limits.frameOverhead)
    guard head.count >= Limits.frameOverhead, let base = head.baseAddress else { return nil }
    let length = unsafe UInt64(base.load(0, as: UInt32.self))
    let next = fault + UInt64(Limits.frameOverhead) + length
    return length <= UInt64(Limits.payloadBytes) && next < limit ? next : nil
  }

  /// The first place from `start` on that is accepted, and whose frame ends at or in front of `end`.
  private func search(from start: UInt64, upTo end: UInt64) throws(LogStoreError) -> UInt64? {
    var from = start
    while let candidate = try reader.candidate(from: from, upTo: end) {
      if try isAccepted(candidate) { return candidate }
      from = candidate + 1
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
