/// The commands that are about the program itself.
extension CommandTable {
  static let completionCommand = CommandSpec(
    name: "completion",
    abstract: "Print a completion script.",
    arguments: [
      ArgumentSpec(
        name: "shell", help: "The shell that is to complete: bash, zsh or fish.",
        value: .choice(["bash", "zsh", "fish"]))
    ],
    options: [helpOption],
    examples: [
      .init(
        command: "logctl completion bash > ~/.local/share/bash-completion/completions/logctl",
        purpose: "Complete in bash from the next session on."),
      .init(
        command: "logctl completion zsh > \"${fpath[1]}/_logctl\"", purpose: "Complete in zsh from the next session on."
      ),
      .init(
        command: "logctl completion fish > ~/.config/fish/completions/logctl.fish",
        purpose: "Complete in fish from the next session on."),
    ])

  static let manualCommand = CommandSpec(
    name: "manual",
    abstract: "Print the manual page.",
    options: [helpOption],
    examples: [
      .init(command: "logctl manual | man -l -", purpose: "Read the manual page.")
    ])

  static let helpCommand = CommandSpec(
    name: "help",
    abstract: "Show help information.",
    arguments: [
      ArgumentSpec(name: "subcommand", help: "The subcommand to explain.", isOptional: true, value: .command)
    ],
    options: [helpOption])
}
