/// Frames made from the format's text alone, for what the engine writes only where values are huge.
enum FrameForge {
  static func frame(kind: UInt8, isFirst: Bool, isLast: Bool, payload: [UInt8], salt: UInt64, offset: Int) -> [UInt8] {
    let type = kind | (isFirst ? 0x40 : 0) | (isLast ? 0x80 : 0)
    let length = bytes(UInt64(payload.count), 4)
    let sealed = bytes(salt, 8) + bytes(UInt64(offset), 8) + length + [type] + payload
    return length + bytes(UInt64(crc32(sealed)), 4) + [type] + payload
  }

  /// A put whose value is spread over frames of at most `size` bytes of it, as one batch.
  static func longPut(_ key: [UInt8], _ value: [UInt8], size: Int, salt: UInt64, offset: Int) -> [UInt8] {
    var made: [UInt8] = []
    var left = value[...]
    while left.count > size {
      made += frame(
        kind: 6, isFirst: made.isEmpty, isLast: false, payload: Array(left.prefix(size)), salt: salt,
        offset: offset + made.count)
      left = left.dropFirst(size)
    }
    let payload = bytes(UInt64(key.count), 2) + key + left
    return made
      + frame(kind: 1, isFirst: made.isEmpty, isLast: true, payload: payload, salt: salt, offset: offset + made.count)
  }

  static func bytes(_ value: UInt64, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) }
  }

  /// CRC-32 as in zlib, a bit at a time.
  static func crc32(_ bytes: some Sequence<UInt8>) -> UInt32 {
    var crc: UInt32 = ~0
    for byte in bytes {
      crc ^= UInt32(byte)
      for _ in 0..<8 { crc = crc & 1 == 1 ? (crc >> 1) ^ 0xEDB8_8320 : crc >> 1 }
    }
    return ~crc
  }
}
