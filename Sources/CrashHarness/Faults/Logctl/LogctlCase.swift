import Glibc
import LogStore
import LogStoreTesting

/// One system call of one subcommand that is killed or fails.
struct LogctlCase: Sendable, Replayable {
  static var tier: any Tier.Type { FaultTier.self }

  var command: LogctlScenario.Command
  var interference: Interference
  var call: SystemCall
  var isRepeating: Bool

  var description: String {
    "logctl \(command) \(interference.rawValue) \(call.name) \(call.number) \(isRepeating ? "on" : "once")"
  }

  init(_ command: LogctlScenario.Command, _ interference: Interference, _ call: SystemCall, isRepeating: Bool) {
    (self.command, self.interference, self.call, self.isRepeating) = (command, interference, call, isRepeating)
  }

  init?(_ text: String) {
    let words = text.split(separator: " ").map(String.init)
    guard words.count == 6, words[0] == "logctl", let command = LogctlScenario.Command(rawValue: words[1]),
      let interference = Interference(rawValue: words[2]), let number = Int(words[4])
    else { return nil }
    self.init(command, interference, SystemCall(name: words[3], number: number), isRepeating: words[5] == "on")
  }

  /// What a command that failed exits with: it failed, could not create, or met the system's error.
  private static let failures: Set<Int32> = [1, 73, 74]

  /// A command that has taken so long hangs: undisturbed, it takes a fraction of a second.
  private static let patience = 20

  /// - Parameter undisturbed: what the command does otherwise.
  /// - Returns: whether strace came to the call, and what is wrong; nil if nothing is.
  func run(
    _ scenario: LogctlScenario, _ tools: LogctlTools, undisturbed: LogctlRun, patience: Int = LogctlCase.patience
  ) throws -> (fired: Bool, problem: String?) {
    let start = ContinuousClock.now
    let run = try LogctlRun(scenario, tools.logctl, patience: patience) { folder in
      // Without its other threads, in which calls of that number would fail as well.
      "\(tools.strace) -qq -o \(folder)/trace -e trace=\(call.name) "
        + "-e \(interference.injection(call, on: isRepeating))"
    }
    let isLate = ContinuousClock.now - start >= .seconds(patience)
    let said = String(decoding: TemporaryFolder.read(run.folder.path + "/trace") ?? [], as: UTF8.self)
    let fired = interference == .kill ? said.contains("killed by SIGKILL") : said.contains("(INJECTED)")
    // Both ends with SIGKILL; who is killed in front of a call is so at once.
    return (fired, isLate ? "it hangs" : try problem(run, fired, scenario, undisturbed))
  }

  private func problem(
    _ run: LogctlRun, _ fired: Bool, _ scenario: LogctlScenario, _ undisturbed: LogctlRun
  ) throws -> String? {
    let succeeded = run.ending == undisturbed.ending
    switch run.ending {
    case .exited(let code):
      // A shell's way of saying that what it ran was killed.
      if code == 137 || code == 124 {
        if interference != .kill || !fired { return "it was killed" }
      } else if succeeded {
        // Whoever ends as if nothing had been has to have done and said all of it.
        if scenario.stable(run.output) != scenario.stable(undisturbed.output) {
          return "it exits with \(code), and prints something else than otherwise: "
            + String(decoding: run.output.prefix(300), as: UTF8.self)
        }
      } else if code == 2, mayFindDamage {
        // What the kept generation stands in for is all there.
        if command == .replay, run.output != undisturbed.output { return "it exits with 2, and prints something else" }
      } else if !LogctlCase.failures.contains(code) {
        return "it exits with \(code)"
      }
    case .killed(let signal):
      if interference != .kill || signal != SIGKILL || !fired { return "signal \(signal)" }
    }
    do {
      return try scenario.examine(run.page, succeeded: succeeded).map { "\(run.ending): \($0)" }
    } catch {
      return "\(run.ending), and then the page: \(error)"
    }
  }

  /// The page is whole; but where the medium does not give a snapshot's bytes, the kept generation stands in for them, and
  /// that is told as damage. Verifying has nothing to stand in, and what is refused for now is whole.
  private var mayFindDamage: Bool {
    command != .verify && call.name == "pread64" && (interference == .inputOutput || interference == .noSpace)
  }
}

/// The programs that this needs.
struct LogctlTools: Sendable {
  var logctl: String
  var strace: String

  struct Missing: Error {
    var reason: String
  }

  /// `LOGCTL`, or the one that was built beside this program.
  static func findLogctl() throws(Missing) -> String {
    let beside = ChildProcess.program.split(separator: "/").dropLast().joined(separator: "/")
    let logctl = unsafe getenv("LOGCTL").map { unsafe String(cString: $0) } ?? "/\(beside)/logctl"
    guard unsafe access(logctl, X_OK) == 0 else {
      throw Missing(reason: "there is no \(logctl); build it with swift build -c release --product logctl")
    }
    return logctl
  }

  static func find() throws(Missing) -> LogctlTools {
    let logctl = try findLogctl()
    guard ChildProcess.succeeds("strace", "-V") else {
      throw Missing(reason: "there is no strace; Scripts/setup strace")
    }
    return LogctlTools(logctl: logctl, strace: "strace")
  }

  /// What a subcommand does, and the calls that it makes, when nothing disturbs it.
  func undisturbed(_ scenario: LogctlScenario) throws -> (run: LogctlRun, calls: [SystemCall], ofOthers: Int) {
    let run = try LogctlRun(scenario, logctl) { folder in
      "\(strace) -f -qq -o \(folder)/trace -e trace=\(SystemCall.names.joined(separator: ","))"
    }
    guard case .exited(let code) = run.ending, [0, 3].contains(code) else {
      throw Disagreement("an undisturbed logctl \(scenario.command) ends with \(run.ending)")
    }
    let trace = String(decoding: TemporaryFolder.read(run.folder.path + "/trace") ?? [], as: UTF8.self)
    let (calls, others) = SystemCall.all(in: trace, page: LogctlRun.page)
    guard !calls.isEmpty else { throw Disagreement("strace shows no call of logctl \(scenario.command)") }
    return (run, calls, others)
  }
}
