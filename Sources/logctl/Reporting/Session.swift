internal import LogStore
internal import LogctlCore

/// One run of one command: where it prints, and what it has come to.
final class Session {
  let invocation: Invocation
  let output = Output(.output)
  let errors = ErrorOutput(.error)
  let isJSON: Bool
  /// For standard output.
  let style: Style
  let errorStyle: Style
  let start = Environment.now
  var verdict = Verdict()

  init(_ invocation: Invocation) {
    self.invocation = invocation
    var path = invocation.arguments[0][...]
    while path.count > 1 && path.hasSuffix("/") { path.removeLast() }
    self.path = String(path)
    isJSON = invocation.has("json")
    style = Style(invocation.value("color"), for: .output)
    errorStyle = Style(invocation.value("color"), for: .error)
  }

  /// The path that the command line names, without slashes at its end.
  let path: String

  /// Whether the user wants no more: an interrupt, or nobody reads the output.
  var isOver: Bool { Interrupt.isRequested || !output.isOpen }

  func schema(_ kind: String) -> String { "logctl.\(invocation.command.name).\(kind)/1" }

  // MARK: Pages

  /// The pages that the path stands for; nil after an error.
  func pages() -> [String]? {
    do throws(LogStoreError) {
      let pages = try PageInspector.pages(at: path)
      // Where there is none, working on the path itself gives the precise error.
      return pages.isEmpty ? [path] : pages
    } catch {
      fail(error, page: path)
      return nil
    }
  }

  // MARK: Errors

  func fail(_ error: any Error, page: String) {
    guard let error = error as? LogStoreError else {
      fail(.failed, "\(page): \(error)", page: page)
      return
    }
    if error.code == .cancelled && Interrupt.isRequested {
      verdict.fail(.interrupted)
      return
    }
    let place = error.path ?? page
    var text = error.message
    // The engine says PAGE where a command to run needs the page's path.
    if text.contains("`logctl ") { text = Remedy.text(text, page: page) }
    if !text.hasPrefix(place) { text = place + ": " + text }
    if let number = error.errno, !text.contains(SystemError.message(number)) {
      text += " (\(SystemError.message(number)))"
    }
    fail(ExitCode(error), text, page: page, error)
  }

  func fail(_ code: ExitCode, _ message: String, page: String? = nil, _ error: LogStoreError? = nil) {
    verdict.fail(code)
    errors.line(errorStyle.red("Error:") + " " + Printable.text(message))
    guard isJSON else { return }
    output.buffer.beginLine(schema: schema("error"))
    if let page { output.buffer.member("page", page) }
    output.buffer.member("status", code.name)
    if let error {
      output.buffer.member("code", error.code.description)
      if let path = error.path { output.buffer.member("path", path) }
      if let offset = error.offset { output.buffer.member("offset", offset) }
      if let lsn = error.lsn { output.buffer.member("lsn", lsn) }
      if let number = error.errno { output.buffer.member("errno", Int(number)) }
    }
    output.buffer.member("message", error?.message ?? message)
    output.buffer.endLine()
    output.flushIfFull()
  }

  // MARK: Findings

  /// Reports what opening a page found: to people on standard error, to programs in line with the rest.
  func report(_ findings: [Finding], of page: String) {
    for finding in findings.map(unadvised) {
      verdict.find(finding.severity)
      if isJSON {
        finding.write(to: output, schema: schema("finding"), page: page)
      } else if finding.severity > .note {
        show(finding, of: page, heading: Printable.text(page) + ": ")
      }
    }
  }

  /// Shows a finding to people, on standard error.
  func show(_ finding: Finding, of page: String, heading: String) {
    for line in unadvised(finding).lines(of: page, errorStyle, heading: heading) { errors.line(line) }
  }

  /// The command that runs is no advice for what to run next.
  private func unadvised(_ finding: Finding) -> Finding {
    var finding = finding
    if finding.remedy == "logctl \(invocation.command.name) PAGE", !invocation.has("dry-run") { finding.remedy = "" }
    return finding
  }

  /// Reports what happened in the background. What ended in an error that was thrown is left to that error.
  func report(_ log: EventLog, of page: String) {
    for event in log.drain() {
      switch event {
      case .healed(let finding): report([finding], of: page)
      case .compactionFailed(let error, _): warn("a compaction failed", error, page)
      case .removalFailed(let error): warn("an old file could not be removed", error, page)
      case .quarantineFailed(let error): warn("damaged bytes could not be set aside", error, page)
      case .compactionStarted, .compactionFinished, .poisoned: break
      }
    }
  }

  private func warn(_ what: String, _ error: LogStoreError, _ page: String) {
    guard !verdict.isFailure, error.code != .cancelled else { return }
    errors.line(errorStyle.yellow("Warning:") + " " + Printable.text("\(page): \(what): \(error.message)"))
    guard isJSON else { return }
    output.buffer.beginLine(schema: schema("warning"))
    output.buffer.member("page", page)
    output.buffer.member("code", error.code.description)
    output.buffer.member("message", what + ": " + error.message)
    output.buffer.endLine()
  }

  // MARK: The end

  /// In JSON mode the summary, as the last line; `members` adds what the command has to say.
  func summarize(_ members: (Output) -> Void = { _ in }) {
    if Interrupt.isRequested { verdict.fail(.interrupted) }
    guard isJSON else { return }
    let code = verdict.exitCode
    output.buffer.beginLine(schema: schema("summary"))
    output.buffer.member("status", code.name)
    output.buffer.member("exit", Int(code.rawValue))
    members(output)
    output.buffer.member("seconds", seconds: Environment.now - start)
    output.buffer.endLine()
  }

  /// Brings everything out and ends the process.
  func end() -> Never {
    output.flush()
    if let error = output.error {
      if error.isClosedPipe { Interrupt.dieOfClosedPipe() }
      errors.line(errorStyle.red("Error:") + " cannot write to standard output: \(error.message)")
      verdict.fail(.io)
    }
    Environment.exit(verdict.exitCode.rawValue)
  }
}
