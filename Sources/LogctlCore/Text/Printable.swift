/// Text that may come from anywhere, made fit for a terminal: no control characters, one line, not endless.
package enum Printable {
  package static func text(_ text: String, limit: Int = .max) -> String {
    var result = ""
    var length = 0
    for scalar in text.unicodeScalars {
      if length == limit { return result + "…" }
      length += 1
      switch scalar {
      case "\n": result += "\\n"
      case "\t": result += "\\t"
      case "\r": result += "\\r"
      case _ where isUnsafe(scalar): result += "\\u{" + String(scalar.value, radix: 16) + "}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// A key for a message: quoted text, or its bytes in hexadecimal where it is not UTF-8.
  package static func key(_ key: [UInt8], limit: Int = 60) -> String {
    if unsafe UTF8Check.isValid(key.span.bytes) {
      return "\"" + text(String(decoding: key, as: UTF8.self), limit: limit) + "\""
    }
    var hex = "0x"
    for byte in key.prefix(limit / 2) { hex += (byte < 16 ? "0" : "") + String(byte, radix: 16) }
    return key.count > limit / 2 ? hex + "…" : hex
  }

  /// Control characters, and those that change the direction of the text around them.
  private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF: true
    default: false
    }
  }
}
