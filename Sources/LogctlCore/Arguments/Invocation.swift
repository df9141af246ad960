/// A command line that was understood.
package struct Invocation: Sendable {
  package var command: CommandSpec
  package var arguments: [String] = []
  private var values: [String: String] = [:]
  private var flags: Set<String> = []

  package init(_ command: CommandSpec) { self.command = command }

  package func has(_ flag: String) -> Bool { flags.contains(flag) || values[flag] != nil }
  package func value(_ option: String) -> String? { values[option] }
  package func number(_ option: String) -> UInt64? { values[option].flatMap { UInt64($0) } }

  mutating func set(_ flag: String) { flags.insert(flag) }
  mutating func set(_ option: String, _ value: String) { values[option] = value }
}

/// What a command line asks for.
package enum Request: Sendable {
  case run(Invocation)
  /// Help about a command, or about the program.
  case help(CommandSpec?)
  case version
}
