/// What to do next, as the engine says it: with the word `PAGE` where the page's path belongs.
package enum Remedy {
  package static func text(_ remedy: String, page: String) -> String {
    let word = Array("PAGE".utf8)
    let bytes = Array(remedy.utf8)
    let path = Array(ShellQuoting.quote(page).utf8)
    var result: [UInt8] = []
    var i = 0
    while i < bytes.count {
      let end = i + word.count
      if bytes[i...].starts(with: word), i == 0 || !isLetter(bytes[i - 1]), end == bytes.count || !isLetter(bytes[end])
      {
        result += path
        i = end
      } else {
        result.append(bytes[i])
        i += 1
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z")) || byte == UInt8(ascii: "_")
  }
}
