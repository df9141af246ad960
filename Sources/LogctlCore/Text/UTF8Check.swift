/// Whether bytes are well-formed UTF-8 (The Unicode Standard, table 3-7).
package enum UTF8Check {
  package static func isValid(_ bytes: RawSpan) -> Bool {
    unsafe bytes.withUnsafeBytes { buffer in
      guard let start = buffer.baseAddress else { return true }
      let base = unsafe start.assumingMemoryBound(to: UInt8.self)
      let end = buffer.count
      var i = 0
      while true {
        while i + 8 <= end {
          let word = unsafe UInt64(littleEndian: UnsafeRawPointer(base + i).loadUnaligned(as: UInt64.self))
          let high = word & 0x8080_8080_8080_8080
          if high != 0 {
            i += high.trailingZeroBitCount >> 3
            break
          }
          i += 8
        }
        guard i < end else { return true }
        if unsafe base[i] < 0x80 {
          i += 1
          continue
        }
        let length = unsafe sequenceLength(base + i, remaining: end - i)
        if length == 0 { return false }
        i += length
      }
    }
  }

  /// The length of the sequence of two to four bytes at `p`; 0 if it is malformed or incomplete.
  static func sequenceLength(_ p: UnsafePointer<UInt8>, remaining: Int) -> Int {
    func continues(_ i: Int) -> Bool { unsafe p[i] & 0xC0 == 0x80 }
    switch unsafe p[0] {
    case 0xC2...0xDF:
      return remaining >= 2 && continues(1) ? 2 : 0
    case 0xE0...0xEF:
      guard remaining >= 3, continues(1), continues(2) else { return 0 }
      let second = unsafe p[1]
      if unsafe p[0] == 0xE0 && second < 0xA0 { return 0 }
      if unsafe p[0] == 0xED && second > 0x9F { return 0 }
      return 3
    case 0xF0...0xF4:
      guard remaining >= 4, continues(1), continues(2), continues(3) else { return 0 }
      let second = unsafe p[1]
      if unsafe p[0] == 0xF0 && second < 0x90 { return 0 }
      if unsafe p[0] == 0xF4 && second > 0x8F { return 0 }
      return 4
    default:
      return 0
    }
  }
}
