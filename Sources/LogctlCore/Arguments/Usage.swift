/// The line that shows how a command is called.
package enum Usage {
  package static func line(_ command: CommandSpec?) -> String {
    ([CommandTable.program] + words(command)).joined(separator: " ")
  }

  /// What stands behind the program's name, in pieces that are not broken over lines.
  static func words(_ command: CommandSpec?) -> [String] {
    guard let command else { return ["<subcommand>"] }
    var words = [command.name]
    for option in command.options where option.long != "help" {
      var word = "--" + option.long
      if let value = option.value { word += " <\(value.name)>" }
      words.append(option.isRequired ? word : "[\(word)]")
    }
    for argument in command.arguments {
      words.append(argument.isOptional ? "[<\(argument.name)>]" : "<\(argument.name)>")
    }
    return words
  }
}
