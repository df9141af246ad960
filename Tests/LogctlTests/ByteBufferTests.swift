import Testing

@testable import LogctlCore

private func written(_ body: (inout ByteBuffer) -> Void) -> String {
  var buffer = ByteBuffer(capacity: 1)
  body(&buffer)
  return String(decoding: buffer.bytes, as: UTF8.self)
}

@Suite struct ByteBufferTests {
  @Test(arguments: [0, 9, 10, 99, 100, 12_345, 9_999_999_999_999_999_999, 10_000_000_000_000_000_000, UInt64.max])
  func writesNumbers(_ value: UInt64) {
    #expect(written { $0.append(value) } == String(value))
  }

  @Test func writesLines() {
    let line = written {
      $0.beginLine(schema: "logctl.test.line/1")
      $0.member("text", "a\"b")
      $0.member("number", UInt64.max)
      $0.member("negative", -3)
      $0.member("flag", true)
      $0.member("seconds", seconds: 1_000_000_001)
      $0.member("none", [String]())
      $0.member("list", ["a", "b"])
      unsafe $0.member("key", or: "key64", ([0x6B] as [UInt8]).span.bytes)
      unsafe $0.member("value", or: "value64", ([0xFF] as [UInt8]).span.bytes)
      $0.endLine()
      $0.beginLine()
      $0.endLine()
    }
    #expect(
      line
        == #"{"schema":"logctl.test.line/1","text":"a\"b","number":18446744073709551615,"negative":-3,"flag":true,"#
        + #""seconds":1.000000001,"none":[],"list":["a","b"],"key":"k","value64":"/w=="}"# + "\n{}\n")
  }

  @Test(arguments: [
    ("", ""),
    ("plain", "plain"),
    ("\"\\/", "\\\"\\\\/"),
    ("\u{8}\u{9}\u{A}\u{C}\u{D}", "\\b\\t\\n\\f\\r"),
    ("\0\u{1}\u{1F}\u{7F}", "\\u0000\\u0001\\u001f\u{7F}"),
    ("é€😀\u{2028}", "é€😀\u{2028}"),
  ])
  func escapes(_ text: String, _ expected: String) {
    for count in 0..<17 {
      let padding = String(repeating: "x", count: count)
      let bytes = Array((padding + text + padding).utf8)
      #expect(written { unsafe $0.appendEscaped(bytes.span.bytes) } == padding + expected + padding)
    }
  }

  /// What is written as a line is read back as the same bytes, whatever they are.
  @Test func roundTrips() throws {
    var random = SystemRandomNumberGenerator()
    for round in 0..<400 {
      func bytes(_ most: Int) -> [UInt8] {
        let isText = Bool.random(using: &random)
        return (0..<Int.random(in: 0...most, using: &random)).map { _ in
          UInt8.random(in: 0...(isText ? 0x7F : 0xFF), using: &random)
        }
      }
      let key = bytes(20)
      let value = bytes(round)
      var buffer = ByteBuffer()
      buffer.beginLine()
      unsafe buffer.member("key", or: "key64", key.span.bytes)
      unsafe buffer.member("value", or: "value64", value.span.bytes)
      buffer.endLine()
      #expect(try parseLine(buffer.bytes) == ParsedLine(.put, key: key, value: value))
    }
  }

  @Test(arguments: [
    ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
    ("foobar", "Zm9vYmFy"),
  ])
  func writesBase64(_ text: String, _ expected: String) throws {
    #expect(written { unsafe $0.appendBase64(Array(text.utf8).span.bytes) } == expected)
    #expect(try parseLine("{\"key\":\"k\",\"value64\":\"\(expected)\"}")?.value == Array(text.utf8))
  }

  @Test func everyCharacterOfBase64RoundTrips() throws {
    let bytes = (0..<64).flatMap { v -> [UInt8] in [UInt8(v << 2), UInt8(v), UInt8(255 - v)] }
    let text = written { unsafe $0.appendBase64(bytes.span.bytes) }
    #expect(Set(text).isSuperset(of: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"))
    #expect(try parseLine("{\"key\":\"k\",\"value64\":\"\(text)\"}")?.value == bytes)
  }
}
