import Testing

/// How the command behaves in a shell.
@Suite struct MannersTests {
  let scratch = Scratch()

  private func makePage(records: Int = 1) {
    let lines = (1...records).map { "{\"key\":\"k\($0)\",\"value\":\"v\"}\n" }.joined()
    #expect(Tool.run("import", "--batch", "1000", scratch["page"], input: lines).exit == 0)
  }

  @Test func nothingIsPrintedOnAClosedPipe() {
    makePage(records: 40_000)
    let result = Tool.shell("\"$logctl\" replay page | head -n 1; echo ${PIPESTATUS[0]}", in: scratch.path)
    #expect(result.lines == [#"{"key":"k1","value":"v"}"#, "141"], "\(result)")
    #expect(result.errors == "")
    for command in ["verify page", "help", "manual", "compact page"] {
      let result = Tool.shell("\"$logctl\" \(command) | true; echo done", in: scratch.path)
      #expect(result.text == "done\n")
      #expect(result.errors == "")
    }
  }

  /// A limit on the size of files is a full disk, and not the end of the process.
  @Test func aLimitOnTheSizeOfFilesIsAnError() {
    let scratch = Scratch()
    let lines = "for i in $(seq 100); do echo '{\"key\":\"k'$i'\",\"value\":\"some value\"}'; done"
    let result = Tool.shell("ulimit -f 1; (\(lines)) | $logctl import --json page | cat", in: scratch.path)
    #expect(result.text.contains(#""status":"io""#), "\(result)")
    #expect(result.lines.last?.contains(#"logctl.import.summary/1"#) == true, "\(result)")
    #expect([0, 3].contains(Tool.run("verify", scratch["page"]).exit))
  }

  @Test func aFullDiskUnderTheOutputIsAnError() {
    makePage()
    for command in ["verify page", "replay page", "help", "completion bash"] {
      let result = Tool.shell("\"$logctl\" \(command) > /dev/full", in: scratch.path)
      #expect(result.exit == 74)
      #expect(result.errors == "Error: cannot write to standard output: No space left on device\n")
    }
  }

  /// A stream that is closed from the start does not become a file of the page.
  @Test func closedStreams() {
    makePage()
    let before = scratch.state("page")
    for line in ["replay page >&-", "verify page <&- >&-"] {
      let result = Tool.shell("\"$logctl\" \(line)", in: scratch.path)
      #expect(result.exit == 74)
      #expect(result.errors == "Error: cannot write to standard output: Bad file descriptor\n")
    }
    #expect(scratch.state("page") == before)
    let input = Tool.shell("\"$logctl\" import page <&-", in: scratch.path)
    #expect(input.exit == 74)
    #expect(input.errors == "Error: cannot read standard input: Bad file descriptor\n")
    let silent = Tool.shell("echo bad | \"$logctl\" import page >&- 2>&-", in: scratch.path)
    #expect(silent.exit == 65)
    #expect(Tool.run("verify", scratch["page"]).lines.first?.hasPrefix("\(scratch["page"]): clean (") == true)
  }

  @Test func colors() {
    makePage()
    #expect(!Tool.run("verify", scratch["page"]).text.contains("\u{1B}["))
    #expect(Tool.run("verify", "--color", "always", scratch["page"]).text.contains("\u{1B}[32mclean\u{1B}[0m"))
    #expect(
      Tool.run("verify", "--color=always", scratch["page"], environment: ["NO_COLOR": "1"]).text.contains("\u{1B}["))
    #expect(Tool.run("verify", "--color=always", scratch["absent"]).errors.hasPrefix("\u{1B}[31mError:\u{1B}[0m "))
  }

  @Test func usageErrors() {
    let result = Tool.run("verify", "--jsn")
    #expect(result.exit == 64)
    #expect(result.output.isEmpty)
    #expect(
      result.errors == """
        Error: Unknown option '--jsn'. Did you mean '--json'?
        Usage: logctl verify [--json] [--color <when>] <page>
          See 'logctl verify --help' for more information.

        """)
    #expect(
      Tool.run("verify", "--json").text
        == #"{"schema":"logctl.verify.summary/1","status":"usage","exit":64,"message":"Missing expected argument '<page>'."}"#
        + "\n")
  }

  @Test func helpAndVersion() {
    #expect(Tool.run().exit == 0)
    #expect(Tool.run().text == Tool.run("--help").text)
    #expect(Tool.run("help", "import").text == Tool.run("import", "-h").text)
    #expect(Tool.run("--version").text == "0.1.0\n")
    #expect(Tool.run("manual").text.hasPrefix(".TH LOGCTL 1"))
  }

  /// The script itself, in the shell that it is for.
  @Test(arguments: [
    ("logctl comp", 1, "compact completion"), ("logctl verify --j", 2, "--json"),
    ("logctl import --durability p", 3, "power process"), ("logctl import pa", 2, "page"),
    ("logctl help sal", 2, "salvage"), ("logctl salvage -o pa", 3, "page"),
  ])
  func completesInBash(_ line: String, _ word: Int, _ expected: String) {
    makePage()
    let result = Tool.shell(
      """
      source <("$logctl" completion bash)
      COMP_WORDS=(\(line)); COMP_CWORD=\(word); _logctl; echo "${COMPREPLY[@]}"
      """, in: scratch.path)
    #expect(result.text == expected + "\n", "\(result)")
  }

  /// The shells themselves read the scripts, where they are installed.
  @Test(arguments: ["bash", "zsh", "fish"])
  func completionScriptsAreWellFormed(_ shell: String) {
    let result = Tool.shell(
      "command -v \(shell) > /dev/null || exit 0; \"$logctl\" completion \(shell) > script && \(shell) -n script",
      in: scratch.path)
    #expect(result.exit == 0, "\(result)")
    #expect(result.errors == "")
  }

  @Test func theManualPageIsWellFormed() {
    let result = Tool.shell(
      "command -v groff > /dev/null || exit 0; \"$logctl\" manual | groff -man -ww -z", in: scratch.path)
    #expect(result.exit == 0, "\(result)")
    #expect(result.errors == "")
  }
}
