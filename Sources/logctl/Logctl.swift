internal import LogctlCore

/// The program: understands the command line and runs the command.
enum Logctl {
  static func main() -> Never {
    Descriptor.fillStandard()
    Interrupt.install()
    let arguments = Environment.arguments
    guard !arguments.contains(nil) else {
      let error = UsageError("An argument is not UTF-8; rename the directory, or reach it by another path.", nil)
      refuse(error, arguments.compactMap(\.self))
    }
    do throws(UsageError) {
      switch try ArgumentParser.parse(arguments.compactMap(\.self)) {
      case .run(let invocation): run(invocation)
      case .help(let command): show(HelpText.render(command, width: min(Descriptor.output.columns ?? 80, 120)))
      case .version: show(CommandTable.version + "\n")
      }
    } catch {
      refuse(error, arguments.compactMap(\.self))
    }
  }

  private static func run(_ invocation: Invocation) -> Never {
    switch invocation.command.name {
    case "completion": show(CompletionScript.render(shell: invocation.arguments[0]))
    case "manual": show(ManualPage.render())
    default: break
    }
    let session = Session(invocation)
    switch invocation.command.name {
    case "import":
      var command = ImportCommand(session)
      command.run()
    case "replay" where invocation.has("frames"):
      var command = FramesCommand(session)
      command.run()
    case "replay":
      var command = ReplayCommand(session)
      command.run()
    case "compact":
      var command = CompactCommand(session)
      command.run()
    case "verify":
      var command = VerifyCommand(session)
      command.run()
    case "salvage":
      var command = SalvageCommand(session)
      command.run()
    case "forget":
      var command = ForgetCommand(session)
      command.run()
    default: preconditionFailure("the command table names a command that there is not")
    }
    session.end()
  }

  /// Prints text that was asked for and ends the process.
  private static func show(_ text: String) -> Never {
    let output = Output(.output)
    output.buffer.append(text)
    output.flush()
    if let error = output.error {
      if error.isClosedPipe { Interrupt.dieOfClosedPipe() }
      ErrorOutput(.error).line("Error: cannot write to standard output: \(error.message)")
      Environment.exit(ExitCode.io.rawValue)
    }
    Environment.exit(ExitCode.clean.rawValue)
  }

  /// Reports a command line that was not understood. Whoever reads JSON gets a summary even then.
  private static func refuse(_ error: UsageError, _ arguments: [String]) -> Never {
    ErrorOutput(.error).text(error.description)
    let options = arguments.prefix { $0 != "--" }
    if options.contains("--json"), let command = arguments.first.flatMap(CommandTable.command) {
      let output = Output(.output)
      output.buffer.beginLine(schema: "logctl.\(command.name).summary/1")
      output.buffer.member("status", ExitCode.usage.name)
      output.buffer.member("exit", Int(ExitCode.usage.rawValue))
      output.buffer.member("message", error.message)
      output.buffer.endLine()
      output.flush()
    }
    Environment.exit(ExitCode.usage.rawValue)
  }
}
