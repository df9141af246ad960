import Testing

@testable import LogctlCore

/// What the command table makes, compared with files that a person has read.
@Suite struct GoldenTests {
  @Test(arguments: [nil] + CommandTable.commands.map(\.name))
  func help(_ name: String?) {
    let text = HelpText.render(name.flatMap(CommandTable.command))
    #expect(GoldenFile.expected("help" + (name.map { "-" + $0 } ?? "") + ".txt", current: text) == text)
    for line in text.split(separator: "\n") where !line.contains("logctl") { #expect(line.count <= 80) }
  }

  @Test func helpAtAnotherWidth() {
    let text = HelpText.render(CommandTable.replayCommand, width: 120)
    #expect(GoldenFile.expected("help-replay-wide.txt", current: text) == text)
  }

  @Test func manual() {
    let text = ManualPage.render()
    #expect(GoldenFile.expected("logctl.1", current: text) == text)
  }

  @Test(arguments: ["bash", "zsh", "fish"])
  func completion(_ shell: String) {
    let text = CompletionScript.render(shell: shell)
    #expect(GoldenFile.expected("completion." + shell, current: text) == text)
  }
}
