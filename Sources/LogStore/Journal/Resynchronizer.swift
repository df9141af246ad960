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
      let segment = try Segment(reader, from: from, limit: limit)
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

/// A stretch of candidates, with all bytes that their payloads can reach, and the checksums of its prefixes.
private final class Segment {
  /// Candidates start before this offset of the file.
  let end: UInt64
  private let start: UInt64
  private let bytes: ByteBuffer
  private let seed: UInt32
  private let limit: UInt64
  private var next = 0
  /// Checksums of the first `index * stride` bytes; made when the first long candidate asks.
  private var prefixes: [UInt32] = []

  private static let candidates = 4 << 20
  private static let stride = 64
  /// Up to here the checksum is simply computed.
  private static let direct = 512

  init(_ reader: JournalReader, from start: UInt64, limit: UInt64) throws(LogStoreError) {
    self.start = start
    self.limit = limit
    seed = reader.codec.seed
    end = min(limit, start + UInt64(Segment.candidates))
    let reach = min(limit - start, UInt64(Segment.candidates + Limits.payloadBytes + Limits.frameOverhead))
    bytes = ByteBuffer(capacity: Int(reach))
    let room = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes.storage[..<Int(reach)])
    bytes.count = try mapped(offset: start) { () throws(StorageError) in
      try unsafe reader.window.file.readFully(into: room, at: start)
    }
  }

  /// The next offset at which the checksum of a frame matches.
  func nextCandidate() -> UInt64? {
    let starts = Int(end - start)
    while next < starts {
      let place = next
      next += 1
      guard place + Limits.frameOverhead <= bytes.count else { return nil }
      let frame = unsafe UnsafeRawPointer(bytes.base + place)
      let type: UInt8 = unsafe frame.load(8)
      let length = unsafe Int(frame.load(0, as: UInt32.self))
      guard type & 0x3F != 0, length <= Limits.payloadBytes, place + Limits.frameOverhead + length <= bytes.count
      else { continue }
      let offset = start + UInt64(place)
      let prefix = Checksum.prefix(seed: seed, offset: offset, length: UInt32(length), type: type)
      let payload = place + Limits.frameOverhead
      let found: UInt32
      if length <= Segment.direct {
        found = unsafe Checksum.update(prefix, UnsafeRawBufferPointer(start: bytes.base + payload, count: length))
      } else {
        found = ChecksumShift.shift(prefix ^ upTo(payload), bytes: length) ^ upTo(payload + length)
      }
      if unsafe found == frame.load(4, as: UInt32.self) { return offset }
    }
    return nil
  }

  /// The checksum of the segment's first `count` bytes.
  private func upTo(_ count: Int) -> UInt32 {
    if prefixes.isEmpty {
      prefixes.reserveCapacity(bytes.count / Segment.stride + 1)
      var crc: UInt32 = 0
      var place = 0
      prefixes.append(crc)
      while place + Segment.stride <= bytes.count {
        crc = unsafe Checksum.update(crc, UnsafeRawBufferPointer(start: bytes.base + place, count: Segment.stride))
        place += Segment.stride
        prefixes.append(crc)
      }
    }
    let index = count / Segment.stride
    let rest = unsafe UnsafeRawBufferPointer(start: bytes.base + index * Segment.stride, count: count % Segment.stride)
    return unsafe Checksum.update(prefixes[index], rest)
  }
}
