/// Reads one line of JSON as an operation: strict RFC 8259, with the members that an operation has and no others.
///
/// Strings are decoded where they stand, so that a line costs no memory of its own whatever its length; the bytes of a
/// line are therefore not the same afterwards. A pure function over bytes: it reads and writes nothing outside the line.
package enum LineParser {
  /// Parses the bytes of `buffer` in `range`, which hold one line without its end.
  ///
  /// Returns nil for a line of nothing but white space.
  package static func parse(
    _ buffer: UnsafeMutableRawBufferPointer, in range: Range<Int>
  ) throws(LineError) -> LineOperation? {
    precondition(range.lowerBound >= 0 && range.upperBound <= buffer.count)
    guard let base = buffer.baseAddress else { return nil }
    var scanner = unsafe LineScanner(
      base.assumingMemoryBound(to: UInt8.self), from: range.lowerBound, to: range.upperBound)
    return try operation(&scanner)
  }

  private static func operation(_ scanner: inout LineScanner) throws(LineError) -> LineOperation? {
    scanner.skipWhitespace()
    guard let first = scanner.peek() else { return nil }
    guard first == UInt8(ascii: "{") else {
      if scanner.isByteOrderMark { throw scanner.error(.byteOrderMark) }
      throw scanner.error(.notAnObject(found: .init(first)))
    }
    scanner.at += 1
    var members = Members()
    scanner.skipWhitespace()
    if scanner.peek() == UInt8(ascii: "}") {
      scanner.at += 1
    } else {
      while true {
        try member(&scanner, &members)
        scanner.skipWhitespace()
        let next = scanner.peek()
        guard next == UInt8(ascii: ",") else {
          guard next == UInt8(ascii: "}") else {
            throw scanner.error(.expected("',' or '}'", found: .init(next)))
          }
          scanner.at += 1
          break
        }
        scanner.at += 1
        scanner.skipWhitespace()
      }
    }
    scanner.skipWhitespace()
    if let rest = scanner.peek() { throw scanner.error(.trailing(found: .init(rest))) }
    do throws(LineError.Mismatch) {
      return try members.operation()
    } catch {
      throw scanner.error(error.reason, at: scanner.start)
    }
  }

  private static func member(_ scanner: inout LineScanner, _ members: inout Members) throws(LineError) {
    guard scanner.peek() == UInt8(ascii: "\"") else {
      throw scanner.error(.expected("a member's name", found: .init(scanner.peek())))
    }
    let nameStart = scanner.at
    let nameSlice = try scanner.string()
    guard let packed = scanner.packed(nameSlice), let member = LineMember(packed: packed) else {
      throw scanner.error(.unknownMember(scanner.text(nameSlice)), at: nameStart)
    }
    if members.seen & member.bit != 0 { throw scanner.error(.duplicateMember(member.name), at: nameStart) }
    if let other = member.otherForm, members.seen & other.bit != 0 {
      throw scanner.error(.bothForms(member.isBase64 ? other.name : member.name), at: nameStart)
    }
    members.seen |= member.bit
    scanner.skipWhitespace()
    guard scanner.peek() == UInt8(ascii: ":") else {
      throw scanner.error(.expected("':'", found: .init(scanner.peek())))
    }
    scanner.at += 1
    scanner.skipWhitespace()

    let valueStart = scanner.at
    guard scanner.peek() == UInt8(ascii: "\"") else {
      if member == .before, scanner.skipNull() {
        members.beforeIsNull = true
        return
      }
      let found = LineError.Token(scanner.peek())
      throw scanner.error(
        found == .end ? .expected("a value", found: .end) : .notAString(member: member.name, found: found))
    }
    var slice = try scanner.string()
    if member.isBase64 { slice = try scanner.base64(slice) }
    switch member {
    case .op:
      guard let packed = scanner.packed(slice), let verb = LineVerb(rawValue: packed) else {
        throw scanner.error(.unknownOperation(scanner.text(slice)), at: valueStart)
      }
      members.verb = verb
    case .key, .key64: members.key = slice
    case .value, .value64: members.value = slice
    case .before, .before64: members.before = slice
    }
  }
}

extension LineError {
  /// A line whose members do not make an operation together.
  struct Mismatch: Error {
    var reason: Reason
  }
}

/// The members of a line, in whatever order they came.
private struct Members {
  var seen: UInt8 = 0
  /// A line without `op` is a put, as `replay` prints it.
  var verb = LineVerb.put
  var key = Slice.empty
  var value = Slice.empty
  var before = Slice.empty
  var beforeIsNull = false

  static let keyBits = LineMember.key.bit | LineMember.key64.bit
  static let valueBits = LineMember.value.bit | LineMember.value64.bit
  static let beforeBits = LineMember.before.bit | LineMember.before64.bit

  func operation() throws(LineError.Mismatch) -> LineOperation {
    let hasKey = seen & Members.keyBits != 0
    let hasValue = seen & Members.valueBits != 0
    let hasBefore = seen & Members.beforeBits != 0
    if hasKey == (verb == .clear) { throw mismatch(.key, missing: !hasKey) }
    if hasValue != (verb == .put) { throw mismatch(.value, missing: !hasValue) }
    var result: LineOperation
    switch verb {
    case .put:
      if beforeIsNull {
        throw LineError.Mismatch(reason: .notAString(member: "before", found: .literal))
      }
      result = LineOperation(hasBefore ? .putBefore : .put)
    case .move:
      if !hasBefore { throw mismatch(.before, missing: true) }
      result = LineOperation(beforeIsNull ? .moveToEnd : .move)
    case .remove, .clear:
      if hasBefore { throw mismatch(.before, missing: false) }
      result = LineOperation(verb == .remove ? .remove : .clear)
    }
    result.key = key
    result.value = value
    result.before = before
    return result
  }

  private func mismatch(_ member: LineMember, missing: Bool) -> LineError.Mismatch {
    if missing { return .init(reason: .missingMember(member.name, operation: verb.name)) }
    let other = member.otherForm ?? member
    let name = seen & member.bit != 0 ? member.name : other.name
    return .init(reason: .misplacedMember(name, operation: verb.name))
  }
}
