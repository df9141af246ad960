/// Base64 with the standard alphabet and padding (RFC 4648, section 4), strict in both directions.
package enum Base64 {
  package struct Failure: Error, Equatable, CustomStringConvertible {
    package var offset: Int
    package var description: String
  }

  /// Decodes `count` bytes where they stand and returns how many came out.
  static func decodeInPlace(_ text: UnsafeMutablePointer<UInt8>, count: Int) throws(Failure) -> Int {
    guard count > 0 else { return 0 }
    guard count % 4 == 0 else {
      throw Failure(offset: count, description: "its length must be a multiple of four, padded with '='")
    }
    let table = unsafe values
    var source = 0
    var target = 0
    while source < count - 4 {
      let a = unsafe table[Int(text[source])]
      let b = unsafe table[Int(text[source + 1])]
      let c = unsafe table[Int(text[source + 2])]
      let d = unsafe table[Int(text[source + 3])]
      if (a | b | c | d) & 0x80 != 0 { throw unsafe badCharacter(text, from: source, count: 4) }
      unsafe text[target] = a << 2 | b >> 4
      unsafe text[target + 1] = b << 4 | c >> 2
      unsafe text[target + 2] = c << 6 | d
      source += 4
      target += 3
    }
    let equals = UInt8(ascii: "=")
    let padding = unsafe text[source + 3] != equals ? 0 : text[source + 2] != equals ? 1 : 2
    var group = (UInt8(0), UInt8(0), UInt8(0), UInt8(0))
    unsafe group.0 = table[Int(text[source])]
    unsafe group.1 = table[Int(text[source + 1])]
    unsafe group.2 = padding == 2 ? 0 : table[Int(text[source + 2])]
    unsafe group.3 = padding >= 1 ? 0 : table[Int(text[source + 3])]
    if (group.0 | group.1 | group.2 | group.3) & 0x80 != 0 {
      throw unsafe badCharacter(text, from: source, count: 4 - padding)
    }
    if (padding == 2 && group.1 & 0x0F != 0) || (padding == 1 && group.2 & 0x03 != 0) {
      throw Failure(offset: source + 3 - padding, description: "bits in front of the padding must be zero")
    }
    unsafe text[target] = group.0 << 2 | group.1 >> 4
    if padding < 2 { unsafe text[target + 1] = group.1 << 4 | group.2 >> 2 }
    if padding < 1 { unsafe text[target + 2] = group.2 << 6 | group.3 }
    return target + 3 - padding
  }

  private static func badCharacter(_ text: UnsafeMutablePointer<UInt8>, from start: Int, count: Int) -> Failure {
    for i in start..<(start + count) where unsafe values[Int(text[i])] & 0x80 != 0 {
      return Failure(
        offset: i,
        description: unsafe text[i] == UInt8(ascii: "=")
          ? "padding may stand only at the end" : "a character that is not of its alphabet")
    }
    return Failure(offset: start, description: "a character that is not of its alphabet")
  }

  /// The value of each character; 0xFF where it has none. Written once, never freed.
  private nonisolated(unsafe) static let values: UnsafePointer<UInt8> = {
    let table = UnsafeMutablePointer<UInt8>.allocate(capacity: 256)
    unsafe table.initialize(repeating: 0xFF, count: 256)
    for (value, character) in alphabetText.utf8.enumerated() { unsafe table[Int(character)] = UInt8(value) }
    return unsafe UnsafePointer(table)
  }()

  /// The character of each value. Written once, never freed.
  nonisolated(unsafe) static let alphabet: UnsafePointer<UInt8> = {
    let table = UnsafeMutablePointer<UInt8>.allocate(capacity: 64)
    for (value, character) in alphabetText.utf8.enumerated() { unsafe table[value] = character }
    return unsafe UnsafePointer(table)
  }()

  private static let alphabetText = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
}
