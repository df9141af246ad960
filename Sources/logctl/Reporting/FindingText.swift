internal import LogStore
internal import LogctlCore

extension Finding {
  /// For people: a line that says what and where, and indented ones that say more.
  func lines(of page: String, _ style: Style, heading: String) -> [String] {
    var head = kind.rawValue.map { $0 == "-" ? " " : String($0) }.joined() + " in " + Printable.text(file)
    if let range {
      head += " at byte \(range.lowerBound)"
      if let length = length(of: range), length > 0 { head += ", " + Quantity.count(length, "byte") }
    }
    if let lsns {
      head += lsns.count == 1 ? ", LSN \(lsns.lowerBound)" : ", LSN \(lsns.lowerBound) to \(lsns.upperBound)"
    }
    var lines = [heading + word(style) + ": " + head]
    lines.append("  " + Printable.text(detail))
    if let lostOperations {
      var lost = "  lost: at most " + Quantity.count(lostOperations, "operation")
      if !keys.isEmpty {
        lost += "; keys " + keys.prefix(10).map { Printable.key($0) }.joined(separator: ", ")
        if keys.count > 10 { lost += " and " + Quantity.count(UInt64(keys.count - 10)) + " more" }
      }
      lines.append(lost)
    }
    if !remedy.isEmpty { lines.append("  next: " + Printable.text(command(for: page))) }
    return lines
  }

  func write(to output: Output, schema: String, page: String) {
    output.buffer.beginLine(schema: schema)
    output.buffer.member("page", page)
    output.buffer.member("kind", kind.rawValue)
    output.buffer.member("severity", severity.name)
    output.buffer.member("file", file)
    if let range {
      output.buffer.member("offset", range.lowerBound)
      if let length = length(of: range) { output.buffer.member("length", length) }
    }
    if let lsns {
      output.buffer.member("firstLsn", lsns.lowerBound)
      output.buffer.member("lastLsn", lsns.upperBound)
    }
    output.buffer.member("detail", detail)
    if let lostOperations { output.buffer.member("lostOperations", lostOperations) }
    if !keys.isEmpty {
      output.buffer.name("keys")
      for (index, key) in keys.enumerated() {
        output.buffer.append(index == 0 ? "[" : ",")
        output.buffer.beginLine()
        unsafe output.buffer.member("key", or: "key64", key.span.bytes)
        output.buffer.append("}")
      }
      output.buffer.append("]")
    }
    if !remedy.isEmpty { output.buffer.member("remedy", command(for: page)) }
    output.buffer.endLine()
    output.flushIfFull()
  }

  /// Nil where nobody knows how many bytes are missing.
  private func length(of range: Range<UInt64>) -> UInt64? {
    range.upperBound == .max ? nil : range.upperBound - range.lowerBound
  }

  /// What to do next, with the page's path as a shell takes it.
  private func command(for page: String) -> String { Remedy.text(remedy, page: page) }

  private func word(_ style: Style) -> String {
    switch severity {
    case .note: severity.name
    case .benign: style.yellow(severity.name)
    case .damage: style.red(severity.name)
    }
  }
}

extension Finding.Severity {
  var name: String {
    switch self {
    case .note: "note"
    case .benign: "benign"
    case .damage: "damage"
    }
  }
}

extension [Finding] {
  /// How many operations are lost at most. What a file claims need not be true, and the sum may be out of range.
  var lostOperations: UInt64 { reduce(0) { $0.addingCapped($1.lostOperations ?? 0) } }
}

extension UInt64 {
  func addingCapped(_ other: UInt64) -> UInt64 {
    let (sum, isOver) = addingReportingOverflow(other)
    return isOver ? .max : sum
  }
}
