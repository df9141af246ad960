/// Multiplication of checksums by powers of x, in the field that CRC-32 lives in.
enum ChecksumShift {
  /// What a checksum contributes once `bytes` more bytes have followed what it covers.
  static func shift(_ crc: UInt32, bytes: Int) -> UInt32 {
    var result = crc
    var rest = bytes
    var power = 0
    while rest != 0 {
      let digit = rest & 0xFF
      if digit != 0 { result = multiply(powers[power &* 256 &+ digit], result) }
      rest >>= 8
      power += 1
    }
    return result
  }

  /// The product of two polynomials, bits reflected, modulo the polynomial of CRC-32.
  private static func multiply(_ left: UInt32, _ right: UInt32) -> UInt32 {
    var product: UInt32 = 0
    var mask: UInt32 = 1 << 31
    var factor = right
    while mask != 0 {
      if left & mask != 0 { product ^= factor }
      factor = factor & 1 == 1 ? (factor >> 1) ^ 0xEDB8_8320 : factor >> 1
      mask >>= 1
    }
    return product
  }

  /// `powers[k * 256 + d]` is x to the 8 · d · 256ᵏ.
  private static let powers: [UInt32] = {
    var table = [UInt32](repeating: 0, count: 4 * 256)
    // x to the 8th: bit 31 is the coefficient of x to the 0th.
    var base: UInt32 = 1 << 23
    for k in 0..<4 {
      table[k * 256] = 1 << 31
      for digit in 1..<256 { table[k * 256 + digit] = multiply(table[k * 256 + digit - 1], base) }
      base = multiply(table[k * 256 + 255], base)
    }
    return table
  }()
}
