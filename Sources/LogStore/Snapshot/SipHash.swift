/// SipHash-1-3 (Aumasson and Bernstein): one round a word, three to finish. Keyed, so that nobody who does not know a
/// snapshot's salt can choose keys that crowd one bucket.
struct SipHash: Sendable {
  let k0: UInt64
  let k1: UInt64

  func hash(_ bytes: RawSpan) -> UInt64 {
    var state = State(k0, k1)
    let count = bytes.byteCount
    var position = 0
    while position &+ 8 <= count {
      state.take(bytes.u64(position))
      position &+= 8
    }
    // The last word: what is left, and the length in its top byte.
    var last = UInt64(truncatingIfNeeded: count) << 56
    var shift: UInt64 = 0
    while position < count {
      last |= UInt64(bytes.u8(position)) << shift
      shift &+= 8
      position &+= 1
    }
    state.take(last)
    return state.finish()
  }

  private struct State {
    var v0: UInt64
    var v1: UInt64
    var v2: UInt64
    var v3: UInt64

    init(_ k0: UInt64, _ k1: UInt64) {
      v0 = k0 ^ 0x736F_6D65_7073_6575
      v1 = k1 ^ 0x646F_7261_6E64_6F6D
      v2 = k0 ^ 0x6C79_6765_6E65_7261
      v3 = k1 ^ 0x7465_6462_7974_6573
    }

    @inline(__always)
    mutating func take(_ word: UInt64) {
      v3 ^= word
      round()
      v0 ^= word
    }

    @inline(__always)
    mutating func finish() -> UInt64 {
      v2 ^= 0xFF
      round()
      round()
      round()
      return v0 ^ v1 ^ v2 ^ v3
    }

    @inline(__always)
    private mutating func round() {
      v0 &+= v1
      v1 = rotate(v1, 13) ^ v0
      v0 = rotate(v0, 32)
      v2 &+= v3
      v3 = rotate(v3, 16) ^ v2
      v0 &+= v3
      v3 = rotate(v3, 21) ^ v0
      v2 &+= v1
      v1 = rotate(v1, 17) ^ v2
      v2 = rotate(v2, 32)
    }

    @inline(__always)
    private func rotate(_ value: UInt64, _ bits: UInt64) -> UInt64 { (value &<< bits) | (value &>> (64 &- bits)) }
  }
}
