import Testing

/// Changes to a page's files that only a test makes.
enum PageFile {
  /// Gives a file another format version, with a header that still verifies.
  static func setVersion(_ version: UInt16, of path: String) {
    change(path) { bytes in
      bytes[8] = UInt8(version & 0xFF)
      bytes[9] = UInt8(version >> 8)
      let checksum = crc32(bytes[..<124])
      for i in 0..<4 { bytes[124 + i] = UInt8(truncatingIfNeeded: checksum >> UInt32(8 * i)) }
    }
  }

  static func flipBit(at offset: Int, of path: String) {
    change(path) { bytes in
      #expect(offset < bytes.count, "\(path) is too short")
      if offset < bytes.count { bytes[offset] ^= 0x10 }
    }
  }

  static func append(_ tail: [UInt8], to path: String) { change(path) { $0 += tail } }

  private static func change(_ path: String, _ body: (inout [UInt8]) -> Void) {
    guard var bytes = TestFile.read(path) else {
      Issue.record("cannot read \(path)")
      return
    }
    body(&bytes)
    TestFile.write(path, bytes)
  }

  private static func crc32(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    var crc: UInt32 = 0xFFFF_FFFF
    for byte in bytes {
      crc ^= UInt32(byte)
      for _ in 0..<8 { crc = crc & 1 == 1 ? 0xEDB8_8320 ^ (crc >> 1) : crc >> 1 }
    }
    return ~crc
  }
}
