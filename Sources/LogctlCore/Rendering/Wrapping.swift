/// Filling text to a width.
enum Wrapping {
  /// The words of `text` in lines of at most `width` characters, where the words allow it.
  static func lines(_ text: String, width: Int) -> [String] {
    lines(text.split(separator: " ").map(String.init), width: width)
  }

  static func lines(_ words: [String], width: Int) -> [String] {
    var lines: [String] = []
    var line = ""
    for word in words {
      if !line.isEmpty && line.count + 1 + word.count > width {
        lines.append(line)
        line = ""
      }
      line += line.isEmpty ? word : " " + word
    }
    if !line.isEmpty { lines.append(line) }
    return lines
  }

  /// A term and what it means, in two columns.
  static func entry(_ term: String, _ help: String, width: Int) -> [String] {
    let column = 26
    let body = lines(help, width: max(width - column, 20))
    let indent = String(repeating: " ", count: column)
    let head = "  " + term
    guard head.count < column else { return [head] + body.map { indent + $0 } }
    guard let first = body.first else { return [head] }
    return [head + String(repeating: " ", count: column - head.count) + first] + body.dropFirst().map { indent + $0 }
  }
}
