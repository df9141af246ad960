/// A completion script for bash.
enum BashCompletion {
  static func render() -> String {
    let names = CommandTable.commands.map(\.name).joined(separator: " ")
    let rootOptions = CommandTable.rootOptions.flatMap(CompletionScript.spellings).joined(separator: " ")
    var text = """
      # Completion of logctl for bash.
      _logctl() {
        local current previous command word index
        current="${COMP_WORDS[COMP_CWORD]}"
        previous="${COMP_WORDS[COMP_CWORD-1]}"
        COMPREPLY=()
        if [[ $COMP_CWORD -eq 1 ]]; then
          COMPREPLY=($(compgen -W "\(names) \(rootOptions)" -- "$current"))
          return
        fi
        command="${COMP_WORDS[1]}"
        case "$command" in

      """
    for command in CommandTable.commands { text += branch(command) }
    text += """
        esac
      }
      complete -F _logctl logctl

      """
    return text
  }

  private static func branch(_ command: CommandSpec) -> String {
    var text = "    \(command.name))\n"
    let valued = command.options.filter { $0.value != nil }
    if !valued.isEmpty {
      text += "      case \"$previous\" in\n"
      for option in valued {
        guard let value = option.value else { continue }
        text += "        \(CompletionScript.spellings(option).joined(separator: "|")))\n"
        text += offer(value.kind).map { "          \($0)\n" }.joined()
        text += "          return;;\n"
      }
      text += "      esac\n"
    }
    let options = command.options.flatMap(CompletionScript.spellings).joined(separator: " ")
    text += "      if [[ \"$current\" == -* ]]; then\n"
    text += "        COMPREPLY=($(compgen -W \"\(options)\" -- \"$current\"))\n"
    text += "        return\n"
    text += "      fi\n"
    if let argument = command.arguments.first {
      text += offer(argument.value).map { "      \($0)\n" }.joined()
    }
    return text + "      ;;\n"
  }

  private static func offer(_ value: ValueSpec) -> [String] {
    if case .directory = value {
      return ["compopt -o filenames 2> /dev/null", "COMPREPLY=($(IFS=$'\\n'; compgen -d -- \"$current\"))"]
    }
    let words = value.words
    return words.isEmpty ? [] : ["COMPREPLY=($(compgen -W \"\(words.joined(separator: " "))\" -- \"$current\"))"]
  }
}
