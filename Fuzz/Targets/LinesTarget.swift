@testable import LogctlCore

extension FuzzTarget {
  /// A line of JSON: the parser stays inside it, its errors point into it, and a line written from what it understood
  /// means the same.
  static let lines = FuzzTarget(name: "lines") { bytes in
    for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
      guard let parsed = try parse(Array(line)) else { continue }
      let again = try parse(written(parsed))
      try demand(again == parsed, "\(parsed) is written and then read as \(String(describing: again))")
    }
  }

  struct ParsedLine: Equatable {
    var kind: LineOperation.Kind
    var key: [UInt8]
    var value: [UInt8]
    var before: [UInt8]
  }

  /// Nil for an empty line, and for one that is refused.
  static func parse(_ line: [UInt8]) throws -> ParsedLine? {
    // In memory of its own, so that the sanitizer sees a step outside.
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: line.count, alignment: 1)
    defer { unsafe buffer.deallocate() }
    unsafe buffer.copyBytes(from: line)
    do throws(LineError) {
      guard let operation = try unsafe LineParser.parse(buffer, in: 0..<line.count) else { return nil }
      func bytes(_ slice: Slice) -> [UInt8] { unsafe Array(buffer[slice.start..<(slice.start + slice.count)]) }
      return ParsedLine(
        kind: operation.kind, key: bytes(operation.key), value: bytes(operation.value), before: bytes(operation.before))
    } catch {
      try demand(!"\(error)".isEmpty, "an error says nothing")
      return nil
    }
  }

  private static func written(_ parsed: ParsedLine) -> [UInt8] {
    var line = ByteBuffer()
    line.beginLine()
    let name =
      switch parsed.kind {
      case .put, .putBefore: "put"
      case .remove: "remove"
      case .move, .moveToEnd: "move"
      case .clear: "clear"
      }
    line.member("op", name)
    if parsed.kind != .clear { unsafe line.member("key", or: "key64", parsed.key.span.bytes) }
    switch parsed.kind {
    case .put: unsafe line.member("value", or: "value64", parsed.value.span.bytes)
    case .putBefore:
      unsafe line.member("value", or: "value64", parsed.value.span.bytes)
      unsafe line.member("before", or: "before64", parsed.before.span.bytes)
    case .move: unsafe line.member("before", or: "before64", parsed.before.span.bytes)
    case .moveToEnd:
      line.name("before")
      line.append("null")
    case .remove, .clear: break
    }
    line.append("}")
    return line.bytes
  }
}
