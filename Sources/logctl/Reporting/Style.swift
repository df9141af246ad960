/// Colors for people, or none.
struct Style: Sendable {
  var isColored: Bool

  /// `when` as `--color` takes it.
  init(_ when: String?, for descriptor: Descriptor) {
    switch when {
    case "always": isColored = true
    case "never": isColored = false
    default:
      let refused = Environment.variable("NO_COLOR").map { !$0.isEmpty } ?? false
      isColored = !refused && descriptor.isTerminal && Environment.variable("TERM") != "dumb"
    }
  }

  func red(_ text: String) -> String { wrap("31", text) }
  func green(_ text: String) -> String { wrap("32", text) }
  func yellow(_ text: String) -> String { wrap("33", text) }
  func bold(_ text: String) -> String { wrap("1", text) }

  private func wrap(_ code: String, _ text: String) -> String {
    isColored ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
  }
}
