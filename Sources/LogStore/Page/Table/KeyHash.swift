/// The table's private hash of keys: folded multiplication under a random secret, so that nobody can choose keys that
/// collide. It is never written to a file.
struct KeyHash: Sendable {
  private let secret: (UInt64, UInt64, UInt64)
  /// All ones; tests make it small to force collisions.
  private let mask: UInt32

  init(seed: UInt64, mask: UInt32 = .max) {
    // SplitMix64: any seed gives three unrelated words.
    var state = seed
    func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var z = state
      z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
      z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
      return z ^ (z >> 31)
    }
    secret = (next(), next(), next())
    self.mask = mask
  }

  @inline(__always)
  private static func fold(_ a: UInt64, _ b: UInt64) -> UInt64 {
    let product = a.multipliedFullWidth(by: b)
    return product.high ^ product.low
  }

  /// 32 bits: the low ones choose a bucket, the high ones a place in it, and all are compared before the key is.
  @inline(__always)
  func tag(_ key: RawSpan) -> UInt32 {
    let count = key.byteCount
    var state = secret.2 ^ UInt64(truncatingIfNeeded: count)
    let (a, b): (UInt64, UInt64) = unsafe key.withUnsafeBytes { bytes in
      // Reads are unaligned and stay below `count`; short keys are read twice in parts rather than byte by byte.
      func word(_ at: Int) -> UInt64 { unsafe bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self) }
      func half(_ at: Int) -> UInt64 { unsafe UInt64(bytes.loadUnaligned(fromByteOffset: at, as: UInt32.self)) }
      if count > 16 {
        var i = 0
        while i &+ 16 < count {
          state = KeyHash.fold(word(i) ^ secret.0, word(i &+ 8) ^ state)
          i &+= 16
        }
        return (word(count &- 16), word(count &- 8))
      }
      if count >= 8 { return (word(0), word(count &- 8)) }
      if count >= 4 { return (half(0), half(count &- 4)) }
      if count == 0 { return (0, 0) }
      return unsafe (UInt64(bytes[0]) << 16 | UInt64(bytes[count >> 1]) << 8 | UInt64(bytes[count &- 1]), 0)
    }
    let hash = KeyHash.fold(KeyHash.fold(a ^ secret.1, b ^ state), secret.0)
    return UInt32(truncatingIfNeeded: hash ^ (hash >> 32)) & mask
  }
}
