/// The manual page, in the `man` macros of roff.
package struct ManualPage {
  private var text = ""

  package static func render() -> String {
    var page = ManualPage()
    page.add()
    return page.text
  }

  private mutating func add() {
    line(".TH LOGCTL 1 \"\" \"LogStore \(CommandTable.version)\" \"LogStore\"")
    section("NAME")
    line("logctl \\- " + escape(CommandTable.abstract.dropLast().lowercasedFirst))
    section("SYNOPSIS")
    synopsis(nil)
    for command in CommandTable.commands {
      line(".br")
      synopsis(command)
    }
    section("DESCRIPTION")
    paragraph(
      "A page is a directory of the storage engine LogStore: a snapshot of ordered records, and a journal of what "
        + "changed since. Where a command takes a page, a directory that holds several pages stands for all of them, "
        + "except for import.")
    section("SUBCOMMANDS")
    for command in CommandTable.commands { add(command) }
    section("A DAMAGED PAGE")
    for text in CommandTable.damageGuide { paragraph(text) }
    section("OPTIONS")
    paragraph("Without a subcommand:")
    for option in CommandTable.rootOptions { add(option) }
    section("JSON LINES")
    paragraph(
      "With --json everything on standard output is JSON Lines, in UTF-8. The first member of each line is schema. New "
        + "members may come with any version; what is there keeps its name and its meaning for as long as the number "
        + "at the end of the schema stays. Members in brackets are left out where there is nothing to say.")
    for spec in LineTable.lines { add(spec) }
    section("EXIT STATUS")
    for (code, meaning) in CommandTable.exitCodes { entry("\\fB\(code.rawValue)\\fR", meaning) }
    section("ENVIRONMENT")
    for (name, meaning) in CommandTable.environment { entry("\\fB\(escape(name))\\fR", meaning) }
    section("EXAMPLES")
    for command in CommandTable.commands {
      for example in command.examples {
        paragraph(example.purpose)
        verbatim([example.command])
      }
    }
  }

  private mutating func add(_ command: CommandSpec) {
    line(".SS " + escape(command.name))
    synopsis(command)
    paragraph(command.abstract)
    for part in command.discussion {
      switch part {
      case .text(let text): paragraph(text)
      case .verbatim(let lines): verbatim(lines)
      }
    }
    for argument in command.arguments { entry("\\fI\(escape(argument.name))\\fR", argument.help) }
    for option in command.options { add(option) }
  }

  private mutating func add(_ option: OptionSpec) {
    var term = option.short.map { "\\fB\\-\($0)\\fR, " } ?? ""
    term += "\\fB\(escape("--" + option.long))\\fR"
    if let value = option.value { term += " \\fI\(escape(value.name))\\fR" }
    entry(term, option.help)
  }

  private mutating func add(_ spec: LineSpec) {
    let schemas =
      spec.commands.count == 1
      ? spec.schema(of: spec.commands[0])
      : spec.schema(of: "COMMAND") + ", where COMMAND is " + spec.commands.dropLast().joined(separator: ", ")
        + " or " + (spec.commands.last ?? "")
    paragraph(schemas)
    line(".RS 4")
    line(escape(spec.meaning))
    for member in spec.members where spec.described == nil {
      let name = "\\fB\(escape(member.name))\\fR"
      entry(member.isOptional ? "[\(name)]" : name, member.meaning)
    }
    line(".RE")
  }

  private mutating func synopsis(_ command: CommandSpec?) {
    let words = Usage.words(command).map { word in
      // Between angle brackets stands what the reader replaces.
      escape(word).replacing("<", with: "\\fI").replacing(">", with: "\\fR")
    }
    line("\\fB\(CommandTable.program)\\fR " + words.joined(separator: " "))
  }

  private mutating func section(_ title: String) { line(".SH " + title) }

  private mutating func paragraph(_ text: String) {
    line(".PP")
    line(escape(text))
  }

  private mutating func entry(_ term: String, _ help: String) {
    line(".TP")
    line(term)
    line(escape(help))
  }

  private mutating func verbatim(_ lines: [String]) {
    line(".PP")
    line(".RS 4")
    line(".nf")
    for text in lines { line(escape(text)) }
    line(".fi")
    line(".RE")
  }

  private mutating func line(_ text: String) { text.isEmpty ? () : (self.text += text + "\n") }

  /// Keeps roff from reading text as requests, escapes or typographic dashes.
  private func escape(_ text: String) -> String {
    var escaped = ""
    for character in text {
      switch character {
      case "\\": escaped += "\\e"
      case "-": escaped += "\\-"
      case "~": escaped += "\\(ti"
      case "'": escaped += escaped.isEmpty ? "\\&'" : "'"
      case ".": escaped += escaped.isEmpty ? "\\&." : "."
      default: escaped.append(character)
      }
    }
    return escaped
  }
}

extension StringProtocol {
  fileprivate var lowercasedFirst: String { prefix(1).lowercased() + dropFirst() }
}

extension String {
  fileprivate func replacing(_ character: Character, with text: String) -> String {
    reduce(into: "") { $0 += $1 == character ? text : String($1) }
  }
}
