/// What a command is called, takes and does. Help, completion scripts, the manual page and usage errors are all made
/// from this.
package struct CommandSpec: Sendable {
  package var name: String
  /// One line, for lists of commands.
  package var abstract: String
  package var discussion: [Paragraph] = []
  package var arguments: [ArgumentSpec] = []
  package var options: [OptionSpec] = []
  package var examples: [Example] = []

  package enum Paragraph: Sendable {
    /// Filled to the width of the page.
    case text(String)
    /// Kept as it stands.
    case verbatim([String])
  }

  package struct Example: Sendable {
    package var command: String
    package var purpose: String
  }
}

/// A positional argument.
package struct ArgumentSpec: Sendable {
  package var name: String
  package var help: String
  package var isOptional = false
  package var value: ValueSpec
}

package struct OptionSpec: Sendable {
  package var long: String
  package var short: Character?
  /// Nil for a flag.
  package var value: Value?
  package var help: String
  package var isRequired = false
  /// Options of which one must be given too.
  package var needs: String?
  /// Options that make no sense beside this one.
  package var excludes: [String] = []
  /// The option whose number this one's may not exceed.
  package var atMost: String?

  package struct Value: Sendable {
    /// As it stands in usage lines.
    package var name: String
    package var kind: ValueSpec
  }

  package init(
    _ long: String, short: Character? = nil, value: Value? = nil, required: Bool = false, needs: String? = nil,
    excludes: [String] = [], atMost: String? = nil, _ help: String
  ) {
    self.long = long
    self.short = short
    self.value = value
    self.help = help
    isRequired = required
    self.needs = needs
    self.excludes = excludes
    self.atMost = atMost
  }
}

/// What a value may be.
package enum ValueSpec: Sendable {
  case directory
  case choice([String])
  case number(ClosedRange<UInt64>)
  case choiceOrNumber([String], ClosedRange<UInt64>)
  /// A log sequence number or a time.
  case moment
  case command

  /// The words that completion offers.
  package var words: [String] {
    switch self {
    case .choice(let words), .choiceOrNumber(let words, _): words
    case .command: CommandTable.commands.map(\.name)
    case .directory, .number, .moment: []
    }
  }

  /// Why `text` is not such a value; nil if it is.
  func problem(_ text: String) -> String? {
    switch self {
    case .directory:
      return text.isEmpty ? "it is empty" : text.utf8.contains(0) ? "it contains a zero byte" : nil
    case .choice(let words):
      return words.contains(text) ? nil : "choose one of " + list(words)
    case .number(let range):
      return isNumber(text, range) ? nil : "give " + describe(range)
    case .choiceOrNumber(let words, let range):
      return words.contains(text) || isNumber(text, range) ? nil : "give " + list(words) + " or " + describe(range)
    case .moment:
      if isNumber(text, 0...UInt64.max) || Timestamp(text) != nil { return nil }
      return "give a log sequence number, or a time such as 2026-11-30T09:00:00Z"
    case .command:
      return nil
    }
  }

  private func isNumber(_ text: String, _ range: ClosedRange<UInt64>) -> Bool {
    guard text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let number = UInt64(text) else { return false }
    return range.contains(number)
  }

  private func list(_ words: [String]) -> String { words.map { "'\($0)'" }.joined(separator: ", ") }

  private func describe(_ range: ClosedRange<UInt64>) -> String {
    range.upperBound == .max
      ? range.lowerBound == 0 ? "a whole number" : "a whole number from \(range.lowerBound) on"
      : "a whole number from \(range.lowerBound) to \(range.upperBound)"
  }
}
