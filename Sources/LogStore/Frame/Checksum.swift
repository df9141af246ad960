#if Deflate && os(Linux)
  internal import CDeflate
#else
  internal import CZlib
#endif

/// CRC-32 as zlib computes it (reflected polynomial 0xEDB88320, initial and final inversion).
///
/// Bulk bytes go to libdeflate or zlib, which give the same values. The 21 bytes in front of a payload go through
/// tables, because a library call costs more than they do.
@usableFromInline
enum Checksum {
  /// The checksum of `bytes`, continuing from `seed` (the checksum of what came before).
  static func update(_ seed: UInt32, _ bytes: UnsafeRawBufferPointer) -> UInt32 {
    guard let base = bytes.baseAddress, bytes.count > 0 else { return seed }
    #if Deflate && os(Linux)
      return unsafe libdeflate_crc32(seed, base, bytes.count)
    #else
      return UInt32(
        truncatingIfNeeded: unsafe crc32_z(
          UInt(seed), base.assumingMemoryBound(to: UInt8.self), bytes.count))
    #endif
  }

  static func update(_ seed: UInt32, _ bytes: RawSpan) -> UInt32 {
    unsafe bytes.withUnsafeBytes { unsafe update(seed, $0) }
  }

  /// The state that every frame of a file starts from: the checksum of its salt.
  static func seed(salt: UInt64) -> UInt32 {
    var state: UInt32 = 0xFFFF_FFFF
    for shift in stride(from: 0, to: 64, by: 8) {
      state = table(0, UInt8(truncatingIfNeeded: UInt32(truncatingIfNeeded: salt >> shift) ^ state)) ^ (state >> 8)
    }
    return ~state
  }

  /// The checksum of a frame's prefix, `salt ‖ offset ‖ length ‖ type`, given the seed of its file.
  @inline(__always)
  static func prefix(
    seed: UInt32, offset: UInt64, length: UInt32, type: UInt8, _ tables: Tables = Checksum.tables
  ) -> UInt32 {
    // Slicing: the state reaches only the first four of the thirteen bytes, so each byte is one independent look-up. A
    // zero behind those four contributes nothing, and most offsets and lengths are small.
    let low = UInt32(truncatingIfNeeded: offset) ^ ~seed
    let high = UInt32(truncatingIfNeeded: offset >> 32)
    let t = unsafe tables.base
    var crc = unsafe t[12 &* 256 &+ Int(low & 0xFF)]
    unsafe crc ^= t[11 &* 256 &+ Int((low >> 8) & 0xFF)]
    unsafe crc ^= t[10 &* 256 &+ Int((low >> 16) & 0xFF)]
    unsafe crc ^= t[9 &* 256 &+ Int(low >> 24)]
    if high != 0 {
      unsafe crc ^= t[8 &* 256 &+ Int(high & 0xFF)]
      unsafe crc ^= t[7 &* 256 &+ Int((high >> 8) & 0xFF)]
      unsafe crc ^= t[6 &* 256 &+ Int((high >> 16) & 0xFF)]
      unsafe crc ^= t[5 &* 256 &+ Int(high >> 24)]
    }
    unsafe crc ^= t[4 &* 256 &+ Int(length & 0xFF)]
    unsafe crc ^= t[3 &* 256 &+ Int((length >> 8) & 0xFF)]
    if length >> 16 != 0 {
      unsafe crc ^= t[2 &* 256 &+ Int((length >> 16) & 0xFF)]
      unsafe crc ^= t[1 &* 256 &+ Int(length >> 24)]
    }
    unsafe crc ^= t[Int(type)]
    return ~crc
  }

  private static func table(_ k: Int, _ byte: UInt8) -> UInt32 { unsafe tables.base[k &* 256 &+ Int(byte)] }

  /// Where the tables are. Whoever checks many frames holds on to it: a global is asked for anew each time.
  ///
  /// Sendable, as the memory is written once, before this is handed out, and never freed.
  @safe struct Tables: @unchecked Sendable {
    /// `base[k * 256 + b]`: what byte `b` contributes when `k` zero bytes follow it.
    fileprivate let base: UnsafePointer<UInt32>
  }

  static let tables: Tables = {
    let t = UnsafeMutablePointer<UInt32>.allocate(capacity: 13 * 256)
    for byte in 0..<256 {
      var crc = UInt32(byte)
      for _ in 0..<8 { crc = crc & 1 == 1 ? 0xEDB8_8320 ^ (crc >> 1) : crc >> 1 }
      unsafe t[byte] = crc
    }
    for k in 1..<13 {
      for byte in 0..<256 {
        let previous = unsafe t[(k - 1) * 256 + byte]
        unsafe t[k * 256 + byte] = unsafe t[Int(previous & 0xFF)] ^ (previous >> 8)
      }
    }
    return unsafe Tables(base: UnsafePointer(t))
  }()
}
