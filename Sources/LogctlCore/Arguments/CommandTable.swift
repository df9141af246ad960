/// Everything that `logctl` can be asked.
package enum CommandTable {
  package static let program = "logctl"
  package static let version = "0.1.0"
  package static let abstract = "Look after LogStore pages."

  package static let commands: [CommandSpec] = [
    importCommand, replayCommand, compactCommand, verifyCommand, salvageCommand, forgetCommand, completionCommand,
    manualCommand, helpCommand,
  ]

  package static func command(_ name: String) -> CommandSpec? { commands.first { $0.name == name } }

  /// Options that the program has without a command.
  package static let rootOptions: [OptionSpec] = [
    OptionSpec("version", "Show the version."),
    helpOption,
  ]

  static let helpOption = OptionSpec("help", short: "h", "Show help information.")

  static let json = OptionSpec(
    "json", "Print JSON Lines: each line names its schema, and the summary comes last, also on failure.")

  static let color = OptionSpec(
    "color", value: .init(name: "when", kind: .choice(["auto", "always", "never"])),
    "Color what people read: auto, always or never. (default: auto, which is on a terminal unless NO_COLOR is set)")

  static let page = ArgumentSpec(
    name: "page", help: "The page's directory, or a directory of pages.", value: .directory)

  /// What the program's exit codes mean.
  package static let exitCodes: [(code: ExitCode, meaning: String)] = [
    (.clean, "Done, and nothing out of the ordinary was found."),
    (.failed, "Failed for a reason that has no code of its own."),
    (.damage, "Damage or loss was found. What could be done was done."),
    (
      .benign,
      "A benign finding: a torn tail, or a page that was not closed cleanly. Nothing is known to be gone."
    ),
    (.usage, "The command line was wrong."),
    (.malformed, "Malformed or unsupported input: a bad line, a foreign file, a page of a newer version."),
    (.noPage, "There is no such page."),
    (.cannotCreate, "A page could not be created."),
    (.io, "The system reported an error on reading or writing, or refused access."),
    (.locked, "Another writer holds the page."),
    (.interrupted, "Interrupted. What was finished by then stands."),
  ]

  /// From the first suspicion to a page that verifies.
  package static let damageGuide = [
    "1. Copy the page's directory before anything else, and work on the page only after that. Never delete a file of it.",
    "2. Run logctl verify: it changes nothing. Each finding that needs something done ends in the command to run next, "
      + "and says at most how many operations are lost and, where they can be read, their keys.",
    "3. If a complete copy from before the damage exists, compare: logctl replay prints the records of both.",
    "4. Otherwise run what the findings say. logctl compact mends what can be mended; what is lost is recorded, and its "
      + "bytes are set aside in files ending in .quarantine. logctl forget drops that record, once you have taken note "
      + "of it. Then verify again.",
    "5. Where the page does not open, or compacting fails, logctl salvage copies what can be read into a new page. Verify "
      + "that one, and put it in the old one's place.",
  ]

  package static let environment: [(name: String, meaning: String)] = [
    ("NO_COLOR", "Where it is set and not empty, nothing is colored unless --color asks for it.")
  ]
}
