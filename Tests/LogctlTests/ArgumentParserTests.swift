import Testing

@testable import LogctlCore

private func parse(_ line: String) throws -> Request {
  try ArgumentParser.parse(line.split(separator: " ").map(String.init))
}

private func invocation(_ line: String) throws -> Invocation {
  guard case .run(let invocation) = try parse(line) else { throw Unexpected() }
  return invocation
}

private struct Unexpected: Error {}

@Suite struct ArgumentParserTests {
  @Test(arguments: [
    "import --batch 7 --json p", "import --batch=7 p --json", "import p --json --batch 7",
    "import --json --batch=7 -- p",
  ])
  func takesOptionsAnywhere(_ line: String) throws {
    let invocation = try invocation(line)
    #expect(invocation.command.name == "import")
    #expect(invocation.number("batch") == 7)
    #expect(invocation.has("json"))
    #expect(!invocation.has("durability"))
    #expect(invocation.arguments == ["p"])
  }

  @Test(arguments: [
    "salvage p -o q", "salvage -oq p", "salvage -o=q p", "salvage --output q p", "salvage --output=q p",
  ])
  func takesValuesOfShortOptions(_ line: String) throws {
    #expect(try invocation(line).value("output") == "q")
    #expect(try invocation(line).arguments == ["p"])
  }

  @Test func takesWhatFollowsTheDashesAsItIs() throws {
    #expect(try invocation("verify -- --json").arguments == ["--json"])
    #expect(try invocation("verify -").arguments == ["-"])
    #expect(try invocation("salvage --output=--json p").value("output") == "--json")
    #expect(try invocation("salvage p --output -weird").value("output") == "-weird")
  }

  @Test func theLastOfSeveralCounts() throws {
    #expect(try invocation("import --batch 1 --batch 2 p").number("batch") == 2)
  }

  @Test(
    arguments: [
      ("", nil), ("--help", nil), ("-h", nil), ("help", nil), ("help verify", "verify"), ("verify --help", "verify"),
      ("verify -h --unknown", "verify"), ("compact -nh", "compact"), ("help help", "help"),
    ] as [(String, String?)])
  func helps(_ line: String, _ command: String?) throws {
    guard case .help(let about) = try parse(line) else { throw Unexpected() }
    #expect(about?.name == command)
  }

  @Test func tellsItsVersion() throws {
    guard case .version = try parse("--version") else { throw Unexpected() }
  }

  @Test(arguments: [
    ("replay --at 12 p", true), ("replay --at 2026-11-30T09:00:00Z p", true), ("replay --at yesterday p", false),
    ("replay --at 2026-11-30 p", false), ("replay --at 18446744073709551616 p", false), ("replay --at=-1 p", false),
    ("import --batch 0 p", false), ("import --batch +1 p", false), ("import --batch 1x p", false),
    ("compact --keep none p", true), ("compact --keep 0 p", true), ("compact --keep some p", false),
    ("import --durability power p", true), ("import --durability Power p", false), ("replay --color never p", true),
    ("replay --policy pointInTime p", true), ("replay --policy lenient p", false),
  ])
  func checksValues(_ line: String, _ isGood: Bool) {
    if isGood {
      #expect(throws: Never.self) { try parse(line) }
    } else {
      #expect(throws: UsageError.self) { try parse(line) }
    }
  }

  @Test(arguments: [
    ("verfy p", "Unknown subcommand 'verfy'. Did you mean 'verify'?"),
    ("frobnicate", "Unknown subcommand 'frobnicate'."),
    ("--versoin", "Unknown option '--versoin'. Did you mean '--version'?"),
    ("help verfiy", "Unknown subcommand 'verfiy'. Did you mean 'verify'?"),
    ("verify --jsn p", "Unknown option '--jsn'. Did you mean '--json'?"),
    ("verify --colour never p", "Unknown option '--colour'. Did you mean '--color'?"),
    ("verify -json p", "Unknown option '-json'. Did you mean '--json'?"),
    ("verify -x p", "Unknown option '-x'."),
    ("compact -nx p", "Unknown option '-x'."),
    ("verify --json=yes p", "The option '--json' takes no value."),
    ("verify", "Missing expected argument '<page>'."),
    ("verify a b", "Unexpected argument 'b'."),
    ("salvage p", "Missing expected option '--output <new>'."),
    ("salvage p --output", "Missing value for '--output <new>'."),
    ("salvage p -o", "Missing value for '-o <new>'."),
    ("salvage --output --json p", "Missing value for '--output <new>'."),
    ("salvage --output= p", "The value '' is invalid for '--output <new>': it is empty."),
    ("replay --from 3 p", "The option '--from' needs '--frames'."),
    ("replay --frames --from 10 --to 5 p", "The value of '--from' is greater than that of '--to'."),
    ("replay --values --frames p", "The options '--values' and '--frames' exclude each other."),
    ("replay --frames --at 3 p", "The options '--at' and '--frames' exclude each other."),
    ("replay --json --values p", "The options '--values' and '--json' exclude each other."),
    (
      "import --durability powr p",
      "The value 'powr' is invalid for '--durability <level>': choose one of 'power', 'ordered', 'process'. "
        + "Did you mean 'power'?"
    ),
    (
      "import --batch 0 p",
      "The value '0' is invalid for '--batch <lines>': give a whole number from 1 on."
    ),
    ("completion tcsh", "The value 'tcsh' is invalid for '<shell>': choose one of 'bash', 'zsh', 'fish'."),
    ("manual x", "Unexpected argument 'x'."),
  ])
  func explains(_ line: String, _ message: String) {
    let error = #expect(throws: UsageError.self) { try parse(line) }
    #expect(error?.message == message)
  }

  @Test func explainsInThreeLines() {
    let error = #expect(throws: UsageError.self) { try parse("forget") }
    #expect(
      error?.description == """
        Error: Missing expected argument '<page>'.
        Usage: logctl forget [--yes] [--json] [--color <when>] <page>
          See 'logctl forget --help' for more information.

        """)
  }

  @Test func measuresDistances() {
    func distance(_ a: String, _ b: String) -> Int {
      Suggestion.distance(Array(a.unicodeScalars), Array(b.unicodeScalars))
    }
    #expect(distance("", "abc") == 3)
    #expect(distance("verify", "verify") == 0)
    #expect(distance("verfiy", "verify") == 1)
    #expect(distance("replay", "relay") == 1)
    #expect(distance("compact", "impact") == 2)
  }

  /// The table is consistent with itself.
  @Test func everyOptionIsReachable() {
    for command in CommandTable.commands {
      let long = command.options.map(\.long)
      let short = command.options.compactMap(\.short)
      #expect(Set(long).count == long.count)
      #expect(Set(short).count == short.count)
      for option in command.options {
        #expect(option.help.hasSuffix(".") || option.help.hasSuffix(")"))
        for other in option.excludes + [option.needs, option.atMost].compactMap(\.self) {
          #expect(long.contains(other))
        }
      }
    }
  }
}
