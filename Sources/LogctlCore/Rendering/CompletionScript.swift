/// Completion scripts, made from the command table.
package enum CompletionScript {
  /// The script for a shell that the table names.
  package static func render(shell: String) -> String {
    switch shell {
    case "zsh": ZshCompletion.render()
    case "fish": FishCompletion.render()
    default: BashCompletion.render()
    }
  }

  /// An option as it can be written.
  static func spellings(_ option: OptionSpec) -> [String] {
    (option.short.map { ["-\($0)"] } ?? []) + ["--" + option.long]
  }
}
