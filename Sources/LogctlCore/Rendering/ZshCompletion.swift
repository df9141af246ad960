/// A completion script for zsh.
enum ZshCompletion {
  static func render() -> String {
    var text = """
      #compdef logctl
      # Completion of logctl for zsh.
      _logctl() {
        local context state state_descr line
        typeset -A opt_args
        _arguments -C \\

      """
    for option in CommandTable.rootOptions { text += "    \(argument(option)) \\\n" }
    text += """
          '1: :->command' \\
          '*:: :->arguments'
        case $state in
          command)
            local -a commands
            commands=(

      """
    for command in CommandTable.commands {
      text += "        \(quote(command.name + ":" + command.abstract))\n"
    }
    text += """
            )
            _describe 'subcommand' commands
            ;;
          arguments)
            case $words[1] in

      """
    for command in CommandTable.commands {
      var arguments = command.options.map(argument)
      for (index, positional) in command.arguments.enumerated() {
        let colon = positional.isOptional ? "::" : ":"
        arguments.append(quote("\(index + 1)\(colon)\(positional.name):" + action(positional.value)))
      }
      text += "        \(command.name))\n"
      text += "          _arguments -s -S \\\n"
      text += arguments.map { "            \($0)" }.joined(separator: " \\\n") + "\n"
      text += "          ;;\n"
    }
    return text + """
            esac
            ;;
        esac
      }
      _logctl "$@"

      """
  }

  private static func argument(_ option: OptionSpec) -> String {
    let help = "[" + escape(option.help) + "]"
    let value = option.value.map {
      ":" + $0.name.map { $0 == "|" ? " or " : String($0) }.joined() + ":" + action($0.kind)
    }
    guard let short = option.short else {
      return quote("--\(option.long)" + (value == nil ? "" : "=") + help + (value ?? ""))
    }
    let exclusive = "(-\(short) --\(option.long))"
    return quote(exclusive) + "{-\(short)" + (value == nil ? "" : "+") + ",--\(option.long)" + (value == nil ? "" : "=")
      + "}" + quote(help + (value ?? ""))
  }

  private static func action(_ value: ValueSpec) -> String {
    if case .directory = value { return "_files -/" }
    return value.words.isEmpty ? "" : "(" + value.words.joined(separator: " ") + ")"
  }

  private static func escape(_ text: String) -> String {
    text.reduce(into: "") { result, character in
      if character == "[" || character == "]" || character == "\\" || character == ":" { result.append("\\") }
      result.append(character)
    }
  }

  private static func quote(_ text: String) -> String {
    "'" + text.map { $0 == "'" ? "'\\''" : String($0) }.joined() + "'"
  }
}
