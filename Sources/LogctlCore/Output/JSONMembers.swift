/// JSON objects, a line each. Names are the program's own and need no escapes.
extension ByteBuffer {
  /// Begins a line whose first member says what the line is.
  package mutating func beginLine(schema: String) {
    beginLine()
    member("schema", schema)
  }

  package mutating func beginLine() {
    append(UInt8(ascii: "{"))
    needsComma = false
  }

  package mutating func endLine() {
    append("}\n")
    needsComma = false
  }

  package mutating func name(_ name: StaticString) {
    append(needsComma ? ",\"" : "\"")
    append(name)
    append("\":")
    needsComma = true
  }

  package mutating func member(_ name: StaticString, _ value: String) {
    self.name(name)
    string(value)
  }

  package mutating func member(_ name: StaticString, _ value: UInt64) {
    self.name(name)
    append(value)
  }

  package mutating func member(_ name: StaticString, _ value: Int) {
    self.name(name)
    append(String(value))
  }

  package mutating func member(_ name: StaticString, _ value: Bool) {
    self.name(name)
    append(value ? "true" : "false")
  }

  /// Nanoseconds as seconds with all their decimals, so that nothing is lost in a reader's floating point.
  package mutating func member(_ name: StaticString, seconds nanoseconds: UInt64) {
    self.name(name)
    append(nanoseconds / 1_000_000_000)
    append(UInt8(ascii: "."))
    let fraction = String(nanoseconds % 1_000_000_000)
    append(String(repeating: "0", count: 9 - fraction.utf8.count))
    append(fraction)
  }

  package mutating func member(_ name: StaticString, _ values: [String]) {
    self.name(name)
    append(UInt8(ascii: "["))
    for (index, value) in values.enumerated() {
      if index > 0 { append(UInt8(ascii: ",")) }
      string(value)
    }
    append(UInt8(ascii: "]"))
  }

  /// Bytes as text under one name, or as base64 under the other where they are not UTF-8.
  package mutating func member(_ name: StaticString, or name64: StaticString, _ bytes: RawSpan) {
    if UTF8Check.isValid(bytes) {
      self.name(name)
      append(UInt8(ascii: "\""))
      appendEscaped(bytes)
    } else {
      self.name(name64)
      append(UInt8(ascii: "\""))
      appendBase64(bytes)
    }
    append(UInt8(ascii: "\""))
  }

  private mutating func string(_ value: String) {
    append(UInt8(ascii: "\""))
    unsafe appendEscaped(Array(value.utf8).span.bytes)
    append(UInt8(ascii: "\""))
  }
}
