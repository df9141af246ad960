import Glibc
import LogStore
import LogStoreTesting

/// One system call of one subcommand that is killed or fails.
struct LogctlCase: Sendable, CustomStringConvertible {
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

  /// What the command may say when it has not been killed: that it is done, with or without findings, or that it failed,
  /// could not create, or met the system's error.
  private static let honest: Set<Int32> = [0, 1, 2, 3, 73, 74]

  /// A command that has taken so long hangs: undisturbed, it takes a fraction of a second.
  private static let patience = 20

  /// Whether strace came to the call, and what is wrong; nil if nothing is.
  func run(
    _ scenario: LogctlScenario, _ tools: LogctlTools, patience: Int = LogctlCase.patience
  ) throws -> (fired: Bool, problem: String?) {
    let folder = TemporaryFolder()
    let (page, trace) = (folder.path + "/page", folder.path + "/trace")
    guard ChildProcess.succeeds("cp", "-R", scenario.template, page) else { throw Disagreement("cannot copy the page") }
    let line =
      "exec timeout -s KILL \(patience) \(tools.strace) -f -qq -o \(trace) -e trace=\(call.name) "
      + "-e \(interference.injection(call, on: isRepeating)) " + scenario.shell(tools.logctl, on: page)
    let start = ContinuousClock.now
    let ending = try ChildProcess(["-c", line], program: "sh", isQuiet: true).wait()
    let isLate = ContinuousClock.now - start >= .seconds(patience)
    let said = String(decoding: TemporaryFolder.read(trace) ?? [], as: UTF8.self)
    let fired = interference == .kill ? said.contains("killed by SIGKILL") : said.contains("(INJECTED)")
    // Both ends with SIGKILL; who is killed in front of a call is so at once.
    return (fired, isLate ? "it hangs" : try problem(ending, fired, page, scenario))
  }

  private func problem(
    _ ending: ChildProcess.Ending, _ fired: Bool, _ page: String, _ scenario: LogctlScenario
  ) throws -> String? {
    var succeeded = false
    switch ending {
    case .exited(let code):
      // A shell's way of saying that what it ran was killed.
      if code == 137 || code == 124 {
        if interference != .kill || !fired { return "it was killed" }
      } else if !LogctlCase.honest.contains(code) {
        return "it exits with \(code)"
      }
      succeeded = code == 0
    case .killed(let signal):
      if interference != .kill || signal != SIGKILL || !fired { return "signal \(signal)" }
    }
    do {
      return try scenario.examine(page, succeeded: succeeded).map { "\(ending): \($0)" }
    } catch {
      return "\(ending), and then the page: \(error)"
    }
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

  /// The calls that a subcommand makes when nothing disturbs it.
  func calls(_ scenario: LogctlScenario) throws -> [SystemCall] {
    let folder = TemporaryFolder()
    let (page, trace) = (folder.path + "/page", folder.path + "/trace")
    guard ChildProcess.succeeds("cp", "-R", scenario.template, page) else { throw Disagreement("cannot copy the page") }
    let line =
      "exec \(strace) -f -qq -o \(trace) -e trace=\(SystemCall.names.joined(separator: ",")) "
      + scenario.shell(logctl, on: page)
    let ending = try ChildProcess(["-c", line], program: "sh", isQuiet: true).wait()
    guard case .exited(let code) = ending, [0, 2, 3].contains(code) else {
      throw Disagreement("an undisturbed logctl \(scenario.command) ends with \(ending)")
    }
    let found = SystemCall.all(in: String(decoding: TemporaryFolder.read(trace) ?? [], as: UTF8.self), page: page)
    guard !found.isEmpty else { throw Disagreement("strace shows no call of logctl \(scenario.command)") }
    return found
  }
}
