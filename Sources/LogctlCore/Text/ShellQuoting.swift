/// Paths as words that a shell reads back as they are.
package enum ShellQuoting {
  package static func quote(_ word: String) -> String {
    // A path that begins with a dash would read as an option.
    let word = word.hasPrefix("-") ? "./" + word : word
    if word.isEmpty { return "''" }
    if word.utf8.allSatisfy(isPlain) { return word }
    if Printable.text(word) == word {
      var quoted = "'"
      for character in word.unicodeScalars {
        if character == "'" { quoted += "'\\''" } else { quoted.unicodeScalars.append(character) }
      }
      return quoted + "'"
    }
    var quoted = "$'"
    for byte in word.utf8 {
      switch byte {
      case UInt8(ascii: "'"), UInt8(ascii: "\\"): quoted += "\\" + String(UnicodeScalar(byte))
      case 0x20..<0x7F: quoted.unicodeScalars.append(UnicodeScalar(byte))
      default: quoted += "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }
    }
    return quoted + "'"
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    case UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "+"),
      UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "%"), UInt8(ascii: "="):
      true
    default: false
    }
  }
}
