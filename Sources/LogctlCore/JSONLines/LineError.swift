/// Why a line is not an operation, and where in the line.
package struct LineError: Error, Equatable {
  package var reason: Reason
  /// The first byte concerned, counted from 1.
  package var column: Int

  package enum Reason: Equatable, Sendable {
    case byteOrderMark
    case notAnObject(found: Token)
    case expected(String, found: Token)
    case trailing(found: Token)
    case unknownMember(String)
    case duplicateMember(String)
    /// A key, value or `before` is given both as text and as base64.
    case bothForms(String)
    case notAString(member: String, found: Token)
    case controlCharacter(UInt8)
    case invalidUTF8
    case invalidEscape
    case loneSurrogate
    case invalidBase64(String)
    case unknownOperation(String)
    case missingMember(String, operation: String)
    case misplacedMember(String, operation: String)
  }

  /// What stands somewhere, as far as its first byte shows.
  package enum Token: Equatable, Sendable {
    case end, string, number, object, array, literal, colon, comma, closingBrace, closingBracket, byte(UInt8)
  }
}

extension LineError: CustomStringConvertible {
  package var description: String {
    switch reason {
    case .byteOrderMark: "a byte-order mark stands in front of the line; write plain UTF-8"
    case .notAnObject(let found): "expected an object, found \(found)"
    case .expected(let what, let found): "expected \(what), found \(found)"
    case .trailing(let found): "expected the end of the line behind the object, found \(found)"
    case .unknownMember(let name): "unknown member \(quoted(name))"
    case .duplicateMember(let name): "member \(quoted(name)) occurs twice"
    case .bothForms(let name): "both \(quoted(name)) and \(quoted(name + "64")) are given"
    case .notAString(let member, let found): "member \(quoted(member)) must be a string, found \(found)"
    case .controlCharacter(let byte): "control character 0x\(hex(byte)) in a string; write it as \\u00\(hex(byte))"
    case .invalidUTF8: "bytes that are not UTF-8; carry them as base64 in \"key64\" or \"value64\""
    case .invalidEscape: "invalid escape in a string"
    case .loneSurrogate: "half of a surrogate pair in a string"
    case .invalidBase64(let why): "invalid base64: \(why)"
    case .unknownOperation(let name):
      "unknown operation \(quoted(name)); there are \"put\", \"remove\", \"move\" and \"clear\""
    case .missingMember(let name, let operation): "a \(operation) needs the member \(quoted(name))"
    case .misplacedMember(let name, let operation): "a \(operation) has no member \(quoted(name))"
    }
  }

  private func quoted(_ name: String) -> String { "\"" + Printable.text(name, limit: 60) + "\"" }
  private func hex(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }
}

extension LineError.Token: CustomStringConvertible {
  package var description: String {
    switch self {
    case .end: "the end of the line"
    case .string: "a string"
    case .number: "a number"
    case .object: "an object"
    case .array: "an array"
    case .literal: "a literal"
    case .colon: "':'"
    case .comma: "','"
    case .closingBrace: "'}'"
    case .closingBracket: "']'"
    case .byte(let byte):
      byte > 0x20 && byte < 0x7F
        ? "'\(Character(UnicodeScalar(byte)))'" : "the byte 0x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
  }

  init(_ byte: UInt8?) {
    guard let byte else {
      self = .end
      return
    }
    switch byte {
    case UInt8(ascii: "\""): self = .string
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): self = .number
    case UInt8(ascii: "{"): self = .object
    case UInt8(ascii: "["): self = .array
    case UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"): self = .literal
    case UInt8(ascii: ":"): self = .colon
    case UInt8(ascii: ","): self = .comma
    case UInt8(ascii: "}"): self = .closingBrace
    case UInt8(ascii: "]"): self = .closingBracket
    default: self = .byte(byte)
    }
  }
}
