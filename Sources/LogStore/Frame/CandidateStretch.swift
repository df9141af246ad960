/// A stretch of a file in which frames are looked for: the bytes that their payloads reach, and checksums of prefixes.
///
/// Trying a candidate costs the same whatever length it claims: the checksum of its payload comes from those of two
/// prefixes, combined as zlib's `crc32_combine` does. Bytes are read, and checksums made, as far as somebody asks.
final class CandidateStretch {
  /// Candidates start in front of this offset of the file.
  let end: UInt64
  private let start: UInt64
  private let file: any StorageFile
  private let seed: UInt32
  private let bytes: ByteBuffer
  /// How many bytes there can be.
  private var reach: Int
  /// Checksums of the first `index * stride` bytes.
  private var prefixes: [UInt32] = [0]

  private static let stride = 64
  /// How much is read at once, at least.
  private static let step = 256 << 10
  /// Up to here the checksum is simply computed.
  private static let direct = 512
  /// Longer frames are worth refuting before anybody reads them.
  private static let long = 4096

  init(_ file: any StorageFile, seed: UInt32, from start: UInt64, limit: UInt64, candidates: Int) {
    self.file = file
    self.seed = seed
    self.start = start
    end = min(limit, start + UInt64(candidates))
    reach = Int(min(limit - start, UInt64(candidates + Limits.payloadBytes + Limits.frameOverhead)))
    bytes = ByteBuffer(capacity: reach)
  }

  func contains(_ offset: UInt64) -> Bool { start <= offset && offset < end }

  /// The first candidate from `offset`, which is in the stretch, whose checksum matches and whose frame ends at or in front
  /// of `limit`.
  func first(from offset: UInt64, upTo limit: UInt64) throws(LogStoreError) -> UInt64? {
    let limit = Int(min(limit.subtractingCapped(start), UInt64(reach)))
    let starts = min(Int(end - start), limit - Limits.frameOverhead + 1)
    var place = Int(offset - start)
    while place < starts, try holds(place + Limits.frameOverhead) {
      if isPossible(place, limit), try matches(place) { return start + UInt64(place) }
      place += 1
    }
    return nil
  }

  /// Whether a long frame is claimed at `offset`, and its checksum is known, or soon found, to be wrong.
  func refutes(_ offset: UInt64) throws(LogStoreError) -> Bool {
    guard offset >= start, offset - start < UInt64(reach) else { return false }
    let place = Int(offset - start)
    guard try holds(place + Limits.frameOverhead), length(at: place) > CandidateStretch.long, isPossible(place, reach)
    else { return false }
    return try !matches(place)
  }

  /// Whether the frame at `place`, whose header is there, could be one that ends at or in front of `limit`.
  private func isPossible(_ place: Int, _ limit: Int) -> Bool {
    let length = length(at: place)
    return type(at: place) & 0x3F != 0 && length <= Limits.payloadBytes
      && place + Limits.frameOverhead + length <= limit
  }

  private func length(at place: Int) -> Int {
    unsafe Int(UnsafeRawPointer(bytes.base + place).load(0, as: UInt32.self))
  }

  private func type(at place: Int) -> UInt8 { unsafe UnsafeRawPointer(bytes.base + place).load(8, as: UInt8.self) }

  private func matches(_ place: Int) throws(LogStoreError) -> Bool {
    let (payload, length) = (place + Limits.frameOverhead, length(at: place))
    guard try holds(payload + length) else { return false }
    let prefix = Checksum.prefix(
      seed: seed, offset: start + UInt64(place), length: UInt32(length), type: type(at: place))
    let found: UInt32
    if length <= CandidateStretch.direct {
      found = unsafe Checksum.update(prefix, UnsafeRawBufferPointer(start: bytes.base + payload, count: length))
    } else {
      found = ChecksumShift.shift(prefix ^ upTo(payload), bytes: length) ^ upTo(payload + length)
    }
    return unsafe found == UnsafeRawPointer(bytes.base + place).load(4, as: UInt32.self)
  }

  /// Reads on until the first `count` bytes are there; false where the file has not so many.
  private func holds(_ count: Int) throws(LogStoreError) -> Bool {
    if count <= bytes.count { return true }
    guard count <= reach else { return false }
    let held = bytes.count
    let wanted = min(reach, max(count, held + CandidateStretch.step))
    let room = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes.storage[held..<wanted])
    bytes.count = try mapped(offset: start + UInt64(held)) { () throws(StorageError) in
      held + (try unsafe file.readFully(into: room, at: start + UInt64(held)))
    }
    if bytes.count < wanted { reach = bytes.count }
    return count <= bytes.count
  }

  /// The checksum of the stretch's first `count` bytes, which are there.
  private func upTo(_ count: Int) -> UInt32 {
    let stride = CandidateStretch.stride
    while prefixes.count <= count / stride {
      let place = (prefixes.count - 1) * stride
      prefixes.append(
        unsafe Checksum.update(
          prefixes[prefixes.count - 1], UnsafeRawBufferPointer(start: bytes.base + place, count: stride)))
    }
    let place = count / stride * stride
    return unsafe Checksum.update(
      prefixes[count / stride], UnsafeRawBufferPointer(start: bytes.base + place, count: count - place))
  }
}
