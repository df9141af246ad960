@testable import LogStore

extension FuzzTarget {
  /// Eight bytes of salt, eight of offset, then a frame: `check` answers without reading past the end, agrees with a
  /// checksum made the slow way, and what is good and well formed is written again as it was.
  static let frame = FuzzTarget(name: "frame") { bytes in
    var input = InputBytes(bytes)
    let salt = input.number(bytes: 8)
    let offset = input.number(bytes: 8)
    var frame = input.rest()
    let codec = FrameCodec(salt: salt)
    try examine(frame, codec, offset)
    // The same with a checksum that fits, which chance would not find.
    guard frame.count >= Limits.frameOverhead else { return }
    let length = unsafe Int(frame.span.bytes.u32(0))
    guard length <= frame.count - Limits.frameOverhead else { return }
    let crc = slowChecksum(frame, length, salt: salt, offset: offset)
    for place in 0..<4 { frame[4 + place] = UInt8(truncatingIfNeeded: crc >> UInt32(8 * place)) }
    try examine(frame, codec, offset)
  }

  private static func examine(_ frame: [UInt8], _ codec: FrameCodec, _ offset: UInt64) throws {
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: frame.count, alignment: 1)
    defer { unsafe copy.deallocate() }
    unsafe copy.copyBytes(from: frame)
    guard let base = copy.baseAddress, !frame.isEmpty else { return }
    switch unsafe codec.check(UnsafeRawPointer(base), available: frame.count, offset: offset) {
    case .needs(let count):
      try demand(count > frame.count, "a frame needs \(count) bytes and has \(frame.count)")
    case .bad:
      let length = unsafe Int(frame.span.bytes.u32(0))
      guard frame.count >= Limits.frameOverhead + length, frame[8] & 0x3F != 0 else { return }
      let crc = slowChecksum(frame, length, salt: codec.salt, offset: offset)
      try unsafe demand(crc != frame.span.bytes.u32(4), "a good frame is called bad")
    case .good(let type, let length):
      let crc = slowChecksum(frame, length, salt: codec.salt, offset: offset)
      try unsafe demand(crc == frame.span.bytes.u32(4), "a bad frame is called good")
      let parsed = unsafe JournalFrame(
        type, at: UnsafeRawPointer(base), length: length, offset: 128 + offset % (1 << 40))
      guard parsed.form(salt: codec.salt) == .good, parsed.kind.isOperation else { return }
      try demand(
        Array(frame[8..<(9 + length)]) == written(parsed), "\(parsed.kind) is written otherwise than it was read")
    }
  }

  /// Type and payload of the operation as the engine writes it.
  private static func written(_ frame: JournalFrame) throws -> [UInt8] {
    var batch = WriteBatch()
    try batch.add(frame, behind: ByteBuffer())
    let bytes = unsafe Array(batch.unsealed.buffer.bytes)
    // First and last are added where the frame comes to stand.
    return [bytes[8] | frame.type.rawValue & 0xC0] + bytes[9...]
  }

  /// CRC-32 of salt, offset, length, type and payload, bit by bit.
  private static func slowChecksum(_ frame: [UInt8], _ length: Int, salt: UInt64, offset: UInt64) -> UInt32 {
    var crc: UInt32 = ~0
    func add(_ byte: UInt8) {
      crc ^= UInt32(byte)
      for _ in 0..<8 { crc = crc >> 1 ^ (crc & 1 == 1 ? 0xEDB8_8320 : 0) }
    }
    for place in 0..<8 { add(UInt8(truncatingIfNeeded: salt >> UInt64(8 * place))) }
    for place in 0..<8 { add(UInt8(truncatingIfNeeded: offset >> UInt64(8 * place))) }
    for byte in frame[0..<4] { add(byte) }
    for byte in frame[8..<(9 + length)] { add(byte) }
    return ~crc
  }
}
