/// A command line that was not understood, as three lines for a person.
package struct UsageError: Error, Equatable, CustomStringConvertible {
  package var message: String
  package var usage: String
  package var lookAt: String

  package init(_ message: String, _ command: CommandSpec?) {
    self.message = message
    let name = command.map { CommandTable.program + " " + $0.name } ?? CommandTable.program
    usage = Usage.line(command)
    lookAt = "See '\(name) --help' for more information."
  }

  package var description: String { "Error: \(message)\nUsage: \(usage)\n  \(lookAt)\n" }
}
