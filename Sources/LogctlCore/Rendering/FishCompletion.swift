/// A completion script for fish.
enum FishCompletion {
  static func render() -> String {
    var text = """
      # Completion of logctl for fish.
      complete -c logctl -f

      """
    let none = "__fish_use_subcommand"
    for option in CommandTable.rootOptions { text += line(none, option) }
    for command in CommandTable.commands {
      text += "complete -c logctl -n \(none) -a \(command.name) -d \(quote(command.abstract))\n"
    }
    for command in CommandTable.commands {
      let condition = quote("__fish_seen_subcommand_from " + command.name)
      for option in command.options { text += line(condition, option) }
      for argument in command.arguments { text += "complete -c logctl -n \(condition) -a \(words(argument.value))\n" }
    }
    return text
  }

  private static func line(_ condition: String, _ option: OptionSpec) -> String {
    var text = "complete -c logctl -n \(condition)"
    if let short = option.short { text += " -s \(short)" }
    text += " -l \(option.long)"
    if let value = option.value {
      text += " -x"
      if !value.kind.words.isEmpty || value.kind.isDirectory { text += " -a \(words(value.kind))" }
    }
    return text + " -d \(quote(option.help))\n"
  }

  private static func words(_ value: ValueSpec) -> String {
    value.isDirectory ? "'(__fish_complete_directories)'" : quote(value.words.joined(separator: " "))
  }

  private static func quote(_ text: String) -> String {
    "'" + text.map { $0 == "'" || $0 == "\\" ? "\\\($0)" : String($0) }.joined() + "'"
  }
}

extension ValueSpec {
  fileprivate var isDirectory: Bool { if case .directory = self { true } else { false } }
}
