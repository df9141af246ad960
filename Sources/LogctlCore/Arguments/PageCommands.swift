/// The commands that work on pages.
extension CommandTable {
  static let importCommand = CommandSpec(
    name: "import",
    abstract: "Write operations into a page, one JSON object a line.",
    discussion: [
      .text("Reads JSON Lines from standard input, and creates the page where it is absent. A line is one of:"),
      .verbatim([
        #"{"op":"put","key":K,"value":V}"#,
        #"{"op":"put","key":K,"value":V,"before":K2}"#,
        #"{"op":"remove","key":K}"#,
        #"{"op":"move","key":K,"before":K2}"#,
        #"{"op":"move","key":K,"before":null}"#,
        #"{"op":"clear"}"#,
      ]),
      .text(
        "A put replaces the value where the key is present, and otherwise inserts the record at the end; with before, "
          + "the record then stands in front of K2, or at the end where K2 is absent. A line without op is a put, so "
          + "that what replay prints can be read again. key64, value64 and before64 carry bytes as base64 in place of "
          + "key, value and before. Empty lines are passed over."),
      .text(
        "A malformed line ends the import: its number and the reason go to standard error, the exit code is 65, and "
          + "all batches before the one it belongs to stand."),
    ],
    arguments: [ArgumentSpec(name: "page", help: "The page's directory.", value: .directory)],
    options: [
      OptionSpec(
        "batch", value: .init(name: "lines", kind: .number(1...UInt64.max)),
        "How many lines make one atomic batch. (default: 1)"),
      OptionSpec(
        "durability", value: .init(name: "level", kind: .choice(["power", "ordered", "process"])),
        "What each batch survives once it is written: power, ordered or process. (default: process, with one sync at "
          + "the end)"),
      json, color, helpOption,
    ],
    examples: [
      .init(command: "logctl import notes < lines", purpose: "Write the lines of a file into the page notes."),
      .init(command: "logctl replay notes | logctl import copy", purpose: "Copy a page's records into a new page."),
    ])

  static let replayCommand = CommandSpec(
    name: "replay",
    abstract: "Print a page's records, or the frames that made them.",
    discussion: [
      .text(
        #"Prints {"key":K,"value":V} for each record, in page order; key64 and value64 carry as base64 what is not "#
          + "UTF-8. Opens the page for reading only: takes no lock, changes no byte, and is safe on a page in use. "
          + "Findings go to standard error."),
      .text(
        "Where the directory holds several pages, each line begins with the member page, and --values is refused."),
    ],
    arguments: [page],
    options: [
      OptionSpec("values", excludes: ["frames", "json"], "Print the values as they are, joined by nothing."),
      OptionSpec(
        "at", value: .init(name: "lsn|time", kind: .moment), excludes: ["frames"],
        "The state as it was after that many operations, or at that time (such as 2026-11-30T09:00:00Z), as far back "
          + "as generations are kept."),
      OptionSpec("frames", "Print every frame of the kept journals instead of the records."),
      OptionSpec(
        "from", value: .init(name: "lsn", kind: .number(0...UInt64.max)), needs: "frames", atMost: "to",
        "The first log sequence number to print."),
      OptionSpec(
        "to", value: .init(name: "lsn", kind: .number(0...UInt64.max)), needs: "frames",
        "The last log sequence number to print."),
      OptionSpec(
        "policy", value: .init(name: "policy", kind: .choice(["strict", "salvage", "pointInTime"])),
        excludes: ["frames"],
        "What to do about damage: strict refuses, salvage leaves out the damaged batches, pointInTime stops in front "
          + "of the first. (default: salvage, or pointInTime where the page holds an application's own state)"),
      json, color, helpOption,
    ],
    examples: [
      .init(command: "logctl replay --values notes > notes.txt", purpose: "Write the values to a file."),
      .init(command: "logctl replay --at 1000 notes", purpose: "Show the page as it was after 1,000 operations."),
      .init(command: "logctl replay --frames --from 90 --to 110 notes", purpose: "Look at some frames."),
    ])

  static let compactCommand = CommandSpec(
    name: "compact",
    abstract: "Write a page's state into a new snapshot and remove what is no longer needed.",
    discussion: [
      .text(
        "Every record is verified as it is copied, and the snapshot is read back before anything older is removed. "
          + "Interrupting leaves the page as it was."),
      .text(
        "What is kept of the past is there to fall back on, so that a first compaction makes the directory larger."),
    ],
    arguments: [page],
    options: [
      OptionSpec("dry-run", short: "n", "Say what would be freed, and change nothing."),
      OptionSpec(
        "keep", value: .init(name: "none|all|count", kind: .choiceOrNumber(["none", "all"], 0...1_000_000)),
        "What to leave of the past: none, all, or that many older snapshots with every journal since. What was needed "
          + "within the last ten minutes stays as well, except with none. (default: the last verified snapshot and "
          + "every journal since)"),
      json, color, helpOption,
    ],
    examples: [
      .init(command: "logctl compact --dry-run notes", purpose: "See what a compaction would free."),
      .init(command: "logctl compact --keep all notes", purpose: "Compact, and keep the full history."),
    ])

  static let verifyCommand = CommandSpec(
    name: "verify",
    abstract: "Read every byte of every generation, and say what is wrong.",
    discussion: [
      .text(
        "Uses the engine's own reader, so that verifying and opening never disagree. Takes no lock, changes no byte, "
          + "and is safe on a page in use. Each finding names the file, the bytes, the log sequence numbers, what was "
          + "expected, what is lost, and the command to run next.")
    ],
    arguments: [page],
    options: [json, color, helpOption],
    examples: [
      .init(command: "logctl verify notes", purpose: "Verify one page."),
      .init(command: "logctl verify --json Documents", purpose: "Verify every page of a directory, for a program."),
    ])

  static let salvageCommand = CommandSpec(
    name: "salvage",
    abstract: "Copy everything readable into a new page.",
    discussion: [
      .text(
        "Goes around read errors and damage, and reports what is missing. The source is not touched. Where the "
          + "directory holds several pages, each is copied under its own name into the new directory.")
    ],
    arguments: [page],
    options: [
      OptionSpec(
        "output", short: "o", value: .init(name: "new", kind: .directory), required: true,
        "Where to put the new page; must not exist."),
      json, color, helpOption,
    ],
    examples: [
      .init(command: "logctl salvage -o rescued notes", purpose: "Copy what is left of notes to rescued.")
    ])

  static let forgetCommand = CommandSpec(
    name: "forget",
    abstract: "Drop the losses that a page has on record.",
    discussion: [
      .text(
        "What recovery once had to drop is reported at every opening until it is forgotten. Shows the recorded losses "
          + "and asks before it drops them; where standard input is not a terminal, --yes must be given instead. Brings "
          + "nothing back: look for a copy of the page first.")
    ],
    arguments: [page],
    options: [
      OptionSpec("yes", short: "y", "Do not ask."),
      json, color, helpOption,
    ],
    examples: [
      .init(command: "logctl forget --yes notes", purpose: "Drop the recorded losses without being asked.")
    ])
}
