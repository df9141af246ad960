/// A stretch of candidates, with all bytes that their payloads can reach, and the checksums of its prefixes.
final class CandidateSearch {
  /// Candidates start before this offset of the file.
  let end: UInt64
  private let start: UInt64
  private let bytes: ByteBuffer
  private let seed: UInt32
  private let limit: UInt64
  private var next = 0
  /// Checksums of the first `index * stride` bytes; made when the first long candidate asks.
  private var prefixes: [UInt32] = []

  private static let stride = 64
  /// Up to here the checksum is simply computed.
  private static let direct = 512

  /// `candidates` is how many there are in a stretch; only tests lower it.
  init(
    _ file: any StorageFile, seed: UInt32, from start: UInt64, limit: UInt64, candidates: Int = 4 << 20
  ) throws(LogStoreError) {
    self.start = start
    self.limit = limit
    self.seed = seed
    end = min(limit, start + UInt64(candidates))
    let reach = min(limit - start, UInt64(candidates + Limits.payloadBytes + Limits.frameOverhead))
    bytes = ByteBuffer(capacity: Int(reach))
    let room = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes.storage[..<Int(reach)])
    bytes.count = try mapped(offset: start) { () throws(StorageError) in
      try unsafe file.readFully(into: room, at: start)
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
      if length <= CandidateSearch.direct {
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
      prefixes.reserveCapacity(bytes.count / CandidateSearch.stride + 1)
      var crc: UInt32 = 0
      var place = 0
      prefixes.append(crc)
      while place + CandidateSearch.stride <= bytes.count {
        crc = unsafe Checksum.update(
          crc, UnsafeRawBufferPointer(start: bytes.base + place, count: CandidateSearch.stride))
        place += CandidateSearch.stride
        prefixes.append(crc)
      }
    }
    let index = count / CandidateSearch.stride
    let rest = unsafe UnsafeRawBufferPointer(
      start: bytes.base + index * CandidateSearch.stride, count: count % CandidateSearch.stride)
    return unsafe Checksum.update(prefixes[index], rest)
  }
}
