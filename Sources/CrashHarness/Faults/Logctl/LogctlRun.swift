/// One run of the command on a page of its own: how it ended, and what it printed.
struct LogctlRun {
  var ending: ChildProcess.Ending
  var output: [UInt8]
  /// Holds the page and its copy, whatever has become of them.
  let folder = TemporaryFolder()
  var page: String { folder.path + "/" + LogctlRun.page }

  /// As the command line names it: the same each time, for what is printed names it.
  static let page = "page"

  /// - Parameters:
  ///   - patience: seconds after which it is killed.
  ///   - front: what goes in front of the command, for a shell; it gets the folder's path.
  init(
    _ scenario: LogctlScenario, _ logctl: String, patience: Int = 20, behind front: (String) -> String = { _ in "" }
  ) throws {
    guard ChildProcess.succeeds("cp", "-R", scenario.template, folder.path + "/" + LogctlRun.page) else {
      throw Disagreement("cannot copy the page")
    }
    let line =
      "cd \(folder.path) && exec timeout -s KILL \(patience) \(front(folder.path)) "
      + scenario.shell(logctl, on: LogctlRun.page) + " > output"
    ending = try ChildProcess(["-c", line], program: "sh", isQuiet: true).wait()
    output = TemporaryFolder.read(folder.path + "/output") ?? []
  }
}
