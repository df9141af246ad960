import Testing

@testable import LogctlCore

/// Lines made at random, in all the ways that JSON allows, and lines that were then changed at random.
@Suite struct RandomLinesTests {
  /// Numbers that are the same in every run (SplitMix64).
  private struct Numbers: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var z = state
      z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
      z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
      return z ^ (z >> 31)
    }
  }

  private static let scalars: [Unicode.Scalar] =
    (0..<0x80).map { Unicode.Scalar(UInt8($0)) } + [
      "é", "ß", "€", "\u{FFFD}", "\u{FFFF}", "\u{10000}", "😀", "\u{10FFFF}",
    ]

  private func text(_ numbers: inout Numbers) -> String {
    var text = ""
    for _ in 0..<Int.random(in: 0...20, using: &numbers) {
      text.unicodeScalars.append(RandomLinesTests.scalars.randomElement(using: &numbers)!)
    }
    return text
  }

  private func space(_ numbers: inout Numbers) -> String {
    ["", "", "", " ", "\t", "\r", "  "].randomElement(using: &numbers)!
  }

  /// A string in one of its many spellings.
  private func quote(_ text: String, _ numbers: inout Numbers) -> String {
    var quoted = "\""
    let escapes: [Unicode.Scalar: String] = [
      "\"": "\\\"", "\\": "\\\\", "/": "\\/", "\u{8}": "\\b", "\u{C}": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t",
    ]
    for scalar in text.unicodeScalars {
      let mustEscape = scalar.value < 0x20 || scalar == "\"" || scalar == "\\"
      switch Int.random(in: 0...3, using: &numbers) {
      case 0...1 where !mustEscape:
        quoted.unicodeScalars.append(scalar)
      case 2 where escapes[scalar] != nil:
        quoted += escapes[scalar]!
      default:
        for unit in String(scalar).utf16 {
          let hex = String(unit, radix: 16, uppercase: Bool.random(using: &numbers))
          quoted += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
        }
      }
    }
    return quoted + "\""
  }

  private func line(_ numbers: inout Numbers) -> (text: String, meaning: ParsedLine) {
    let (key, value, before) = (text(&numbers), text(&numbers), text(&numbers))
    var members: [(String, String)]
    let meaning: ParsedLine
    switch Int.random(in: 0...5, using: &numbers) {
    case 0:
      members = [("op", "put"), ("key", key), ("value", value)]
      meaning = ParsedLine(.put, key: key, value: value)
    case 1:
      members = [("key", key), ("value", value)]
      meaning = ParsedLine(.put, key: key, value: value)
    case 2:
      members = [("op", "put"), ("key", key), ("value", value), ("before", before)]
      meaning = ParsedLine(.putBefore, key: key, value: value, before: before)
    case 3:
      members = [("op", "remove"), ("key", key)]
      meaning = ParsedLine(.remove, key: key)
    case 4:
      members = [("op", "move"), ("key", key), ("before", before)]
      meaning = ParsedLine(.move, key: key, before: before)
    default:
      members = [("op", "clear")]
      meaning = ParsedLine(.clear, key: "")
    }
    members.shuffle(using: &numbers)
    var line = space(&numbers) + "{"
    for (index, member) in members.enumerated() {
      if index > 0 { line += "," }
      line += space(&numbers) + quote(member.0, &numbers) + space(&numbers) + ":"
      line += space(&numbers) + quote(member.1, &numbers) + space(&numbers)
    }
    return (line + "}" + space(&numbers), meaning)
  }

  @Test func everySpellingMeansTheSame() throws {
    var numbers = Numbers(state: 1)
    for _ in 0..<3000 {
      let (text, meaning) = line(&numbers)
      #expect(try parseLine(text) == meaning, "\(text)")
    }
  }

  /// A changed line is refused, or means something that can be written and read again.
  @Test func nothingBreaksOnChangedLines() throws {
    var numbers = Numbers(state: 2)
    var accepted = 0
    for _ in 0..<20_000 {
      var bytes = Array(line(&numbers).text.utf8)
      for _ in 0..<Int.random(in: 1...2, using: &numbers) {
        let place = Int.random(in: 0..<bytes.count, using: &numbers)
        switch Int.random(in: 0...3, using: &numbers) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &numbers)
        case 1: bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &numbers)
        case 2: bytes.remove(at: place)
        default: bytes.insert(Array("\"\\u{}:,de8".utf8).randomElement(using: &numbers)!, at: place)
        }
        if bytes.isEmpty { break }
      }
      guard failure(bytes) == nil, let parsed = try parseLine(bytes), parsed.kind == .put else { continue }
      accepted += 1
      var buffer = ByteBuffer()
      buffer.beginLine()
      unsafe buffer.member("key", or: "key64", parsed.key.span.bytes)
      unsafe buffer.member("value", or: "value64", parsed.value.span.bytes)
      buffer.endLine()
      #expect(try parseLine(buffer.bytes) == parsed)
    }
    // Changes inside of strings leave a good line.
    #expect(accepted > 500)
  }
}
