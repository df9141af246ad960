import Testing

@testable import LogctlCore

/// A line as the parser understands it, with its strings taken out of the buffer.
struct ParsedLine: Equatable, CustomTestStringConvertible {
  var kind: LineOperation.Kind
  var key: [UInt8] = []
  var value: [UInt8] = []
  var before: [UInt8] = []

  init(_ kind: LineOperation.Kind, key: String = "", value: String = "", before: String = "") {
    self.kind = kind
    self.key = Array(key.utf8)
    self.value = Array(value.utf8)
    self.before = Array(before.utf8)
  }

  init(_ kind: LineOperation.Kind, key: [UInt8] = [], value: [UInt8] = [], before: [UInt8] = []) {
    self.kind = kind
    self.key = key
    self.value = value
    self.before = before
  }

  var testDescription: String { "\(kind) \(key) \(value) \(before)" }
}

/// Parses a line that stands in the middle of other bytes, and checks that these are left alone.
func parseLine(_ line: [UInt8]) throws(LineError) -> ParsedLine? {
  let margin = 9
  let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: line.count + 2 * margin, alignment: 1)
  defer { unsafe buffer.deallocate() }
  // Quotes around the line would end a string that the parser follows past the end.
  for i in 0..<buffer.count { unsafe buffer[i] = UInt8(ascii: "\"") }
  for i in 0..<line.count { unsafe buffer[margin + i] = line[i] }
  defer {
    for i in 0..<margin {
      #expect(unsafe buffer[i] == UInt8(ascii: "\""))
      #expect(unsafe buffer[margin + line.count + i] == UInt8(ascii: "\""))
    }
  }
  guard let operation = try unsafe LineParser.parse(buffer, in: margin..<(margin + line.count)) else { return nil }
  func bytes(_ slice: Slice) -> [UInt8] { unsafe Array(buffer[slice.start..<(slice.start + slice.count)]) }
  return ParsedLine(
    operation.kind, key: bytes(operation.key), value: bytes(operation.value), before: bytes(operation.before))
}

func parseLine(_ line: String) throws(LineError) -> ParsedLine? { try parseLine(Array(line.utf8)) }

/// The error that a line gives; nil if it gives none.
func failure(_ line: [UInt8]) -> LineError? {
  do throws(LineError) {
    _ = try parseLine(line)
    return nil
  } catch {
    return error
  }
}

@Suite struct LineParserTests {
  @Test(arguments: [
    (#"{"op":"put","key":"k","value":"v"}"#, ParsedLine(.put, key: "k", value: "v")),
    (#"{"key":"k","value":"v"}"#, ParsedLine(.put, key: "k", value: "v")),
    (#"{"value":"v","key":"k","op":"put"}"#, ParsedLine(.put, key: "k", value: "v")),
    (#"{"op":"put","key":"k","value":"v","before":"b"}"#, ParsedLine(.putBefore, key: "k", value: "v", before: "b")),
    (#"{"op":"remove","key":"k"}"#, ParsedLine(.remove, key: "k")),
    (#"{"op":"move","key":"k","before":"b"}"#, ParsedLine(.move, key: "k", before: "b")),
    (#"{"op":"move","before":null,"key":"k"}"#, ParsedLine(.moveToEnd, key: "k")),
    (#"{"op":"clear"}"#, ParsedLine(.clear, key: "")),
    (#"{"op":"put","key":"","value":""}"#, ParsedLine(.put, key: "", value: "")),
    ("\t {\r\"op\" :\t\"remove\" , \"key\"\r: \"k\" } \r", ParsedLine(.remove, key: "k")),
    (#"{"\u006fp":"\u0072emove","k\u0065y":"k"}"#, ParsedLine(.remove, key: "k")),
    (
      #"{"key64":"aw==","value64":"AP8=","before64":"Yg=="}"#,
      ParsedLine(.putBefore, key: [0x6B], value: [0, 0xFF], before: [0x62])
    ),
    (#"{"op":"move","key64":"aw==","before64":"Yg=="}"#, ParsedLine(.move, key: "k", before: "b")),
    (#"{"key":"k","value64":"\/\/8\u003d"}"#, ParsedLine(.put, key: [0x6B], value: [0xFF, 0xFF])),
    (#"{"key":"k","value64":""}"#, ParsedLine(.put, key: "k", value: "")),
  ])
  func understands(_ line: String, _ expected: ParsedLine) throws {
    #expect(try parseLine(line) == expected)
  }

  @Test(arguments: ["", " ", "\t", "\r", " \t \r"])
  func passesOverEmptyLines(_ line: String) throws {
    #expect(try parseLine(line) == nil)
  }

  /// Strings of RFC 8259, and what they mean; each is tried as a value at every distance from the end of an 8-byte word.
  @Test(arguments: [
    (#""#, ""),
    (#"abc"#, "abc"),
    (#"\"\\\/\b\f\n\r\t"#, "\"\\/\u{8}\u{C}\n\r\t"),
    (#"\u0000"#, "\0"),
    (#"\u001f"#, "\u{1F}"),
    (#"\u0061\u00E9\u20ac\uFFFF"#, "aé€\u{FFFF}"),
    (#"\ud83d\ude00"#, "😀"),
    (#"\uD800\uDC00 \uDBFF\uDFFF"#, "\u{10000} \u{10FFFF}"),
    ("\u{7F}", "\u{7F}"),
    ("é€😀\u{FEFF}", "é€😀\u{FEFF}"),
    ("é\\né\\t😀\\u00e9é", "é\né\t😀éé"),
    (#"{\"a\":[1,2,{\"b\":\"c\"}]}"#, #"{"a":[1,2,{"b":"c"}]}"#),
    ("/", "/"),
    ("\u{2028}\u{2029}", "\u{2028}\u{2029}"),
  ])
  func decodesStrings(_ text: String, _ expected: String) throws {
    for count in 0..<17 {
      let padding = String(repeating: "x", count: count)
      let line = "{\"key\":\"k\",\"value\":\"\(padding)\(text)\(padding)\"}"
      #expect(try parseLine(line) == ParsedLine(.put, key: "k", value: padding + expected + padding))
    }
  }

  @Test(arguments: [
    // Not an object.
    ("[]", LineError.Reason.notAnObject(found: .array), 1),
    (" \"a\"", .notAnObject(found: .string), 2),
    ("1", .notAnObject(found: .number), 1),
    ("null", .notAnObject(found: .literal), 1),
    ("\u{FEFF}{}", .byteOrderMark, 1),
    ("\u{A0}{}", .notAnObject(found: .byte(0xC2)), 1),
    // Not an object in the grammar's sense.
    ("{", .expected("a member's name", found: .end), 2),
    ("{,}", .expected("a member's name", found: .comma), 2),
    ("{\"op\":\"clear\",}", .expected("a member's name", found: .closingBrace), 15),
    ("{op:\"clear\"}", .expected("a member's name", found: .byte(0x6F)), 2),
    ("{'op':\"clear\"}", .expected("a member's name", found: .byte(0x27)), 2),
    ("{\"op\" \"clear\"}", .expected("':'", found: .string), 7),
    ("{\"op\":}", .notAString(member: "op", found: .closingBrace), 7),
    ("{\"op\":", .expected("a value", found: .end), 7),
    ("{\"op\":\"clear\"", .expected("',' or '}'", found: .end), 14),
    ("{\"op\":\"clear\";", .expected("',' or '}'", found: .byte(0x3B)), 14),
    ("{\"op\":\"clear\"]", .expected("',' or '}'", found: .closingBracket), 14),
    ("{\"op\":\"clear", .expected("the end of the string", found: .end), 13),
    ("{\"op\":\"cle\\", .expected("the end of the string", found: .end), 12),
    ("{\"op\":\"clear\"}{}", .trailing(found: .object), 15),
    ("{\"op\":\"clear\"} x", .trailing(found: .byte(0x78)), 16),
    ("{\"op\":\"clear\"}//", .trailing(found: .byte(0x2F)), 15),
    // Members.
    ("{\"op\":\"clear\",\"foo\":1}", .unknownMember("foo"), 15),
    ("{\"\":1}", .unknownMember(""), 2),
    ("{\"op\\u0000\":\"clear\"}", .unknownMember("op\0"), 2),
    ("{\"Key\":\"k\"}", .unknownMember("Key"), 2),
    ("{\"key\":\"k\",\"key\":\"k\"}", .duplicateMember("key"), 12),
    ("{\"key\":\"k\",\"\\u006bey\":\"k\"}", .duplicateMember("key"), 12),
    ("{\"key\":\"k\",\"key64\":\"aw==\"}", .bothForms("key"), 12),
    ("{\"value64\":\"\",\"value\":\"\"}", .bothForms("value"), 15),
    ("{\"op\":\"move\",\"before\":null,\"before64\":\"\"}", .bothForms("before"), 28),
    ("{\"key\":1}", .notAString(member: "key", found: .number), 8),
    ("{\"key\":-1}", .notAString(member: "key", found: .number), 8),
    ("{\"key\":{}}", .notAString(member: "key", found: .object), 8),
    ("{\"key\":[\"a\"]}", .notAString(member: "key", found: .array), 8),
    ("{\"key\":null}", .notAString(member: "key", found: .literal), 8),
    ("{\"value\":true}", .notAString(member: "value", found: .literal), 10),
    ("{\"before64\":null}", .notAString(member: "before64", found: .literal), 13),
    ("{\"before\":nul}", .notAString(member: "before", found: .literal), 11),
    ("{\"before\":NULL}", .notAString(member: "before", found: .byte(0x4E)), 11),
    // Operations.
    ("{}", .missingMember("key", operation: "put"), 1),
    ("{\"op\":\"put\",\"key\":\"k\"}", .missingMember("value", operation: "put"), 1),
    ("{\"op\":\"put\",\"value\":\"k\"}", .missingMember("key", operation: "put"), 1),
    ("{\"op\":\"put\",\"key\":\"\",\"value\":\"\",\"before\":null}", .notAString(member: "before", found: .literal), 1),
    ("{\"op\":\"remove\"}", .missingMember("key", operation: "remove"), 1),
    ("{\"op\":\"remove\",\"key\":\"k\",\"value\":\"\"}", .misplacedMember("value", operation: "remove"), 1),
    ("{\"op\":\"remove\",\"key\":\"k\",\"before\":\"\"}", .misplacedMember("before", operation: "remove"), 1),
    ("{\"op\":\"move\",\"key\":\"k\"}", .missingMember("before", operation: "move"), 1),
    (
      "{\"op\":\"move\",\"key\":\"k\",\"before\":\"b\",\"value64\":\"\"}",
      .misplacedMember("value64", operation: "move"), 1
    ),
    ("{\"op\":\"clear\",\"key\":\"k\"}", .misplacedMember("key", operation: "clear"), 1),
    ("{\"op\":\"Clear\"}", .unknownOperation("Clear"), 7),
    ("{\"op\":\"\"}", .unknownOperation(""), 7),
    ("{\"op\":\"put\\u0000\"}", .unknownOperation("put\0"), 7),
    ("{\"op\":\"a very long name of an operation\"}", .unknownOperation("a very long name of an operation"), 7),
    // Strings.
    ("{\"key\":\"a\tb\"}", .controlCharacter(9), 10),
    ("{\"key\":\"a\0b\"}", .controlCharacter(0), 10),
    ("{\"key\":\"abcdefghijklmnop\u{1F}\"}", .controlCharacter(0x1F), 25),
    ("{\"key\":\"\\x\"}", .invalidEscape, 9),
    ("{\"key\":\"\\U0041\"}", .invalidEscape, 9),
    ("{\"key\":\"\\u00g0\"}", .invalidEscape, 9),
    ("{\"key\":\"\\u004\"}", .invalidEscape, 9),
    ("{\"key\":\"\\u", .invalidEscape, 9),
    ("{\"key\":\"\\u+041\"}", .invalidEscape, 9),
    ("{\"key\":\"\\ud800\"}", .loneSurrogate, 9),
    ("{\"key\":\"\\udc00\"}", .loneSurrogate, 9),
    ("{\"key\":\"\\ud800\\ud800\"}", .loneSurrogate, 9),
    ("{\"key\":\"\\ud800x\"}", .loneSurrogate, 9),
    ("{\"key\":\"\\ud800\\n\"}", .loneSurrogate, 9),
    // Base64.
    ("{\"key64\":\"a\"}", .invalidBase64("its length must be a multiple of four, padded with '='"), 12),
    ("{\"key64\":\"aw=\"}", .invalidBase64("its length must be a multiple of four, padded with '='"), 14),
    ("{\"key64\":\"aw-_\"}", .invalidBase64("a character that is not of its alphabet"), 13),
    ("{\"key64\":\"aw==aw==\"}", .invalidBase64("padding may stand only at the end"), 13),
    ("{\"key64\":\"ax==\"}", .invalidBase64("bits in front of the padding must be zero"), 12),
  ])
  func refuses(_ line: String, _ reason: LineError.Reason, _ column: Int) {
    #expect(failure(Array(line.utf8)) == LineError(reason: reason, column: column))
  }

  /// Bytes that are not UTF-8: stray continuations, overlong forms, surrogates, too high, cut off.
  @Test(
    arguments: [
      [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC3], [0xC3, 0x28], [0xE0, 0x9F, 0xBF], [0xE2, 0x82],
      [0xE2, 0x28, 0xA1],
      [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xF0, 0x8F, 0xBF, 0xBF], [0xF0, 0x9F, 0x98], [0xF4, 0x90, 0x80, 0x80],
      [0xF5, 0x80, 0x80, 0x80], [0xFE], [0xFF],
    ] as [[UInt8]])
  func refusesInvalidUTF8(_ bytes: [UInt8]) {
    for prefix in ["", "abcdefg", "\\n"] {
      let line = Array("{\"key\":\"\(prefix)".utf8) + bytes + Array("\"}".utf8)
      #expect(failure(line) == LineError(reason: .invalidUTF8, column: 9 + prefix.utf8.count))
    }
  }

  /// Every beginning of a line is refused, and none is read past its end.
  @Test func refusesEveryPrefix() {
    let line = Array(#"{"op":"put","key":"aé\n\ud83d\ude00","value64":"AAEC/w==","before":"b"}"#.utf8)
    #expect(failure(line) == nil)
    for count in 1..<line.count { #expect(failure(Array(line.prefix(count))) != nil) }
  }

  @Test func namesWhatIsWrong() {
    #expect("\(LineError(reason: .unknownMember("fo\u{1B}[31mo"), column: 1))" == #"unknown member "fo\u{1b}[31mo""#)
    #expect(
      "\(LineError(reason: .notAString(member: "key", found: .number), column: 1))"
        == #"member "key" must be a string, found a number"#)
    #expect(
      "\(LineError(reason: .expected("':'", found: .byte(0x7F)), column: 1))" == "expected ':', found the byte 0x7f")
  }
}
