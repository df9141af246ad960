/// What `--help` prints.
package struct HelpText {
  private let width: Int
  private var lines: [String] = []

  /// Help about a command, or about the program.
  package static func render(_ command: CommandSpec?, width: Int = 80) -> String {
    var text = HelpText(width: max(width, 50))
    if let command { text.add(command) } else { text.addProgram() }
    return text.lines.joined(separator: "\n") + "\n"
  }

  private init(width: Int) { self.width = width }

  private mutating func addProgram() {
    add("OVERVIEW: " + CommandTable.abstract)
    addUsage(nil)
    addSection("OPTIONS", CommandTable.rootOptions.map { (HelpText.term($0), $0.help) })
    addSection("SUBCOMMANDS", CommandTable.commands.map { ($0.name, $0.abstract) })
    addSection("EXIT CODES", CommandTable.exitCodes.map { (String($0.code.rawValue), $0.meaning) })
    lines.append("")
    lines.append("  See 'logctl help <subcommand>' for detailed help.")
  }

  private mutating func add(_ command: CommandSpec) {
    add("OVERVIEW: " + command.abstract)
    for paragraph in command.discussion {
      lines.append("")
      switch paragraph {
      case .text(let text): add(text)
      case .verbatim(let verbatim): lines += verbatim.map { "  " + $0 }
      }
    }
    addUsage(command)
    addSection("ARGUMENTS", command.arguments.map { ("<\($0.name)>", $0.help) })
    addSection("OPTIONS", command.options.map { (HelpText.term($0), $0.help) })
    guard !command.examples.isEmpty else { return }
    lines += ["", "EXAMPLES:"]
    for example in command.examples {
      lines += Wrapping.lines(example.purpose, width: width - 2).map { "  " + $0 }
      lines.append("    " + example.command)
    }
  }

  private mutating func add(_ text: String) { lines += Wrapping.lines(text, width: width) }

  private mutating func addUsage(_ command: CommandSpec?) {
    let head = "USAGE: " + CommandTable.program + " "
    let body = Wrapping.lines(Usage.words(command), width: width - head.count)
    lines.append("")
    for (index, line) in body.enumerated() {
      lines.append((index == 0 ? head : String(repeating: " ", count: head.count)) + line)
    }
  }

  private mutating func addSection(_ title: String, _ entries: [(term: String, help: String)]) {
    guard !entries.isEmpty else { return }
    lines += ["", title + ":"]
    for entry in entries { lines += Wrapping.entry(entry.term, entry.help, width: width) }
  }

  static func term(_ option: OptionSpec) -> String {
    var term = option.short.map { "-\($0), " } ?? ""
    term += "--" + option.long
    if let value = option.value { term += " <\(value.name)>" }
    return term
  }
}
