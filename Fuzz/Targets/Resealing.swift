@testable import LogStore

/// Gives changed files checksums that fit, so that what lies behind the checksums is reached too.
enum Resealing {
  /// A journal or snapshot with a header and frames that verify, as far as their lengths lead.
  static func reseal(_ bytes: [UInt8], isSnapshot: Bool) -> [UInt8] {
    guard bytes.count >= Limits.headerBytes else { return bytes }
    var file = bytes
    put(Checksum.update(0, file, 0..<124), at: 124, in: &file)
    let codec = unsafe FrameCodec(salt: file.span.bytes.u64(48))
    var offset = Limits.headerBytes
    var last: Int?
    while file.count - offset >= Limits.frameOverhead {
      let length = unsafe Int(file.span.bytes.u32(offset))
      guard length <= file.count - offset - Limits.frameOverhead else { break }
      seal(&file, offset, length, codec)
      last = offset
      offset += Limits.frameOverhead + length
    }
    guard isSnapshot, let last, offset == file.count, file[last + 8] & 0x3F == FrameKind.footer.rawValue,
      file.count - last == SnapshotLayout.footerFrameBytes
    else { return file }
    put(Checksum.update(0, file, 0..<last), at: last + Limits.frameOverhead + 48, in: &file)
    seal(&file, last, SnapshotFooter.payloadBytes, codec)
    return file
  }

  private static func seal(_ file: inout [UInt8], _ offset: Int, _ length: Int, _ codec: FrameCodec) {
    let type = FrameType(rawValue: file[offset + 8])
    unsafe file.withUnsafeMutableBytes {
      guard let base = $0.baseAddress else { return }
      unsafe codec.seal(base + offset, offset: UInt64(offset), length: length, type: type)
    }
  }

  private static func put(_ crc: UInt32, at place: Int, in file: inout [UInt8]) {
    for byte in 0..<4 { file[place + byte] = UInt8(truncatingIfNeeded: crc >> UInt32(8 * byte)) }
  }
}

extension Checksum {
  fileprivate static func update(_ crc: UInt32, _ bytes: [UInt8], _ range: Range<Int>) -> UInt32 {
    unsafe bytes.withUnsafeBytes { unsafe update(crc, UnsafeRawBufferPointer(rebasing: $0[range])) }
  }
}
