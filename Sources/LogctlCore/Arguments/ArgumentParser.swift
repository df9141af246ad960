/// Understands a command line by the command table.
package struct ArgumentParser {
  private var words: ArraySlice<String>
  private var invocation: Invocation
  private var spec: CommandSpec { invocation.command }

  /// `arguments` without the program's own name.
  package static func parse(_ arguments: [String]) throws(UsageError) -> Request {
    guard let first = arguments.first else { return .help(nil) }
    if first == "--help" || first == "-h" { return .help(nil) }
    if first == "--version" { return .version }
    if first.hasPrefix("-") && first != "-" && first != "--" {
      let names = CommandTable.rootOptions.map { "--" + $0.long }
      throw UsageError(unknown("option", first, Suggestion.nearest(to: first, among: names)), nil)
    }
    guard let command = CommandTable.command(first) else { throw unknownCommand(first, asked: nil) }
    var parser = ArgumentParser(words: arguments.dropFirst(), invocation: Invocation(command))
    return try parser.parse()
  }

  private static func unknown(_ what: String, _ word: String, _ suggestion: String?) -> String {
    "Unknown \(what) '\(Printable.text(word, limit: 200))'." + (suggestion.map { " Did you mean '\($0)'?" } ?? "")
  }

  private static func unknownCommand(_ name: String, asked: CommandSpec?) -> UsageError {
    let suggestion = Suggestion.nearest(to: name, among: CommandTable.commands.map(\.name))
    return UsageError(unknown("subcommand", name, suggestion), asked)
  }

  private mutating func parse() throws(UsageError) -> Request {
    while let word = words.popFirst() {
      if word == "--" {
        invocation.arguments += words
        break
      }
      if word.hasPrefix("--") {
        if try long(word) { return .help(spec) }
      } else if word.hasPrefix("-") && word != "-" {
        if try cluster(word) { return .help(spec) }
      } else {
        invocation.arguments.append(word)
      }
    }
    try checkArguments()
    try checkOptions()
    if spec.name == "help" {
      guard let topic = invocation.arguments.first else { return .help(nil) }
      guard let command = CommandTable.command(topic) else { throw ArgumentParser.unknownCommand(topic, asked: spec) }
      return .help(command)
    }
    return .run(invocation)
  }

  /// Takes `--name`, `--name value` or `--name=value`; returns whether help was asked for.
  private mutating func long(_ word: String) throws(UsageError) -> Bool {
    let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let name = String(parts[0])
    guard let option = spec.options.first(where: { $0.long == name }) else {
      let suggestion = Suggestion.nearest(to: name, among: spec.options.map(\.long)).map { "--" + $0 }
      throw error(ArgumentParser.unknown("option", "--" + name, suggestion))
    }
    let attached = parts.count == 2 ? String(parts[1]) : nil
    guard option.value != nil else {
      if attached != nil { throw error("The option '--\(name)' takes no value.") }
      return take(option)
    }
    try take(option, as: "--" + name, attached)
    return false
  }

  /// Takes `-a`, `-abc`, `-o value`, `-ovalue` or `-o=value`; returns whether help was asked for.
  private mutating func cluster(_ word: String) throws(UsageError) -> Bool {
    var rest = word.dropFirst()
    while let letter = rest.popFirst() {
      guard let option = spec.options.first(where: { $0.short == letter }) else {
        let name = String(word.dropFirst())
        let meant = spec.options.map(\.long).contains(name) ? "--" + name : nil
        throw error(ArgumentParser.unknown("option", meant == nil ? "-\(letter)" : word, meant))
      }
      guard option.value != nil else {
        if take(option) { return true }
        continue
      }
      if rest.first == "=" { rest = rest.dropFirst() }
      try take(option, as: "-\(letter)", rest.isEmpty && !word.hasSuffix("=") ? nil : String(rest))
      return false
    }
    return false
  }

  private mutating func take(_ flag: OptionSpec) -> Bool {
    invocation.set(flag.long)
    return flag.long == "help"
  }

  private mutating func take(_ option: OptionSpec, as name: String, _ attached: String?) throws(UsageError) {
    guard let kind = option.value else { return }
    // A word that is an option of this command is not taken for a value; `--name=--word` says that it is meant.
    let isOption = attached == nil && words.first.map(isOwnOption) ?? false
    guard !isOption, let value = attached ?? words.popFirst() else {
      throw error("Missing value for '\(name) <\(kind.name)>'.")
    }
    if let problem = kind.kind.problem(value) {
      let nearest = Suggestion.nearest(to: value, among: kind.kind.words).map { " Did you mean '\($0)'?" } ?? ""
      let shown = Printable.text(value, limit: 200)
      throw error("The value '\(shown)' is invalid for '\(name) <\(kind.name)>': \(problem).\(nearest)")
    }
    invocation.set(option.long, value)
  }

  private func isOwnOption(_ word: String) -> Bool {
    if word == "--" { return true }
    guard word.hasPrefix("-"), word != "-" else { return false }
    let name = word.hasPrefix("--") ? word.dropFirst(2).prefix { $0 != "=" } : ""
    return spec.options.contains { option in
      option.long == name || (name.isEmpty && option.short != nil && word.dropFirst().first == option.short)
    }
  }

  private func checkArguments() throws(UsageError) {
    let expected = spec.arguments
    if let surplus = invocation.arguments.dropFirst(expected.count).first {
      throw error("Unexpected argument '\(Printable.text(surplus, limit: 200))'.")
    }
    for (index, argument) in expected.enumerated() {
      guard index < invocation.arguments.count else {
        if argument.isOptional { break }
        throw error("Missing expected argument '<\(argument.name)>'.")
      }
      let value = invocation.arguments[index]
      if let problem = argument.value.problem(value) {
        let nearest = Suggestion.nearest(to: value, among: argument.value.words).map { " Did you mean '\($0)'?" } ?? ""
        let shown = Printable.text(value, limit: 200)
        throw error("The value '\(shown)' is invalid for '<\(argument.name)>': \(problem).\(nearest)")
      }
    }
  }

  private func checkOptions() throws(UsageError) {
    for option in spec.options {
      guard invocation.has(option.long) else {
        if option.isRequired, let value = option.value {
          throw error("Missing expected option '--\(option.long) <\(value.name)>'.")
        }
        continue
      }
      if let needed = option.needs, !invocation.has(needed) {
        throw error("The option '--\(option.long)' needs '--\(needed)'.")
      }
      if let other = option.excludes.first(where: invocation.has) {
        throw error("The options '--\(option.long)' and '--\(other)' exclude each other.")
      }
      if let other = option.atMost, let least = invocation.number(option.long), let most = invocation.number(other),
        least > most
      {
        throw error("The value of '--\(option.long)' is greater than that of '--\(other)'.")
      }
    }
  }

  private func error(_ message: String) -> UsageError { UsageError(message, spec) }
}
