import Glibc

/// Calls of one subcommand that handle half of what they are given: it must do all the same what it does otherwise.
struct ShortCase: Sendable, Replayable {
  static var tier: any Tier.Type { FaultTier.self }

  var command: LogctlScenario.Command
  var call: ShortCalls.Call
  /// Among the calls of that name that can be halved, from 1.
  var number: Int
  var isRepeating: Bool

  var description: String { "short \(command) \(call) \(number) \(isRepeating ? "on" : "once")" }

  init(_ command: LogctlScenario.Command, _ call: ShortCalls.Call, _ number: Int, isRepeating: Bool) {
    (self.command, self.call, self.number, self.isRepeating) = (command, call, number, isRepeating)
  }

  init?(_ text: String) {
    let words = text.split(separator: " ").map(String.init)
    guard words.count == 5, words[0] == "short", let command = LogctlScenario.Command(rawValue: words[1]),
      let call = ShortCalls.Call(rawValue: words[2]), let number = Int(words[3])
    else { return nil }
    self.init(command, call, number, isRepeating: words[4] == "on")
  }

  /// - Parameter undisturbed: what the command does otherwise.
  /// - Returns: whether there was such a call, and what is wrong.
  func run(
    _ scenario: LogctlScenario, _ logctl: String, _ calls: ShortCalls, undisturbed: LogctlRun
  ) throws -> (fired: Bool, problem: String?) {
    let run = try LogctlRun(scenario, logctl) { folder in
      calls.environment(call, number: number, on: isRepeating, mark: folder + "/mark")
    }
    let fired = unsafe access(run.folder.path + "/mark", F_OK) == 0
    if run.ending != undisturbed.ending {
      return (fired, "it ends with \(run.ending) instead of \(undisturbed.ending)")
    }
    if scenario.stable(run.output) != scenario.stable(undisturbed.output) { return (fired, "it prints something else") }
    return (fired, try scenario.examine(run.page, succeeded: run.ending == .exited(0)))
  }
}
