import Glibc
import Testing

/// Whatever stands at the path: a clear message, an exit code of its own, and nothing on disk changed.
@Suite struct BadInputTests {
  let scratch = Scratch()

  private static let readers = ["verify", "replay", "compact", "forget --yes", "salvage -o new"]

  private func run(_ command: String, _ page: String, input: String = "") -> Tool.Result {
    var words = command.split(separator: " ").map { $0 == "new" ? scratch["new"] : String($0) }
    words.append(scratch[page])
    return Tool.run(words, input: Array(input.utf8))
  }

  private func makePage(_ name: String) {
    let result = Tool.run("import", scratch[name], input: #"{"key":"a","value":"1"}"# + "\n")
    #expect(result.exit == 0, "\(result)")
  }

  private func expect(
    _ result: Tool.Result, exit: Int32, mentions words: String..., location: SourceLocation = #_sourceLocation
  ) {
    #expect(result.exit == exit, "\(result.errors)", sourceLocation: location)
    #expect(result.output.isEmpty, sourceLocation: location)
    #expect(result.errors.hasPrefix("Error: "), sourceLocation: location)
    for word in words { #expect(result.errors.contains(word), "\(result.errors)", sourceLocation: location) }
  }

  @Test(arguments: readers)
  func noPage(_ command: String) {
    expect(run(command, "absent"), exit: 66, mentions: scratch["absent"])
    #expect(Tool.shell("ls -A", in: scratch.path).text == "")
  }

  @Test(arguments: readers)
  func aFileWhereThePageShouldBe(_ command: String) {
    TestFile.write(scratch["file"], Array("text".utf8))
    let before = scratch.state(".")
    let result = run(command, "file")
    #expect(result.exit == 66 || result.exit == 65, "\(result.errors)")
    #expect(result.errors.contains(scratch["file"]))
    #expect(scratch.state(".") == before)
  }

  @Test(arguments: readers + ["import"])
  func aForeignFileWithAPagesName(_ command: String) {
    scratch.makeDirectory("page")
    TestFile.write(scratch["page/0000000001.journal"], Array("This is a diary, not a journal of ours.\n".utf8))
    let before = scratch.state(".")
    expect(run(command, "page", input: #"{"op":"clear"}"#), exit: 65, mentions: scratch["page"])
    #expect(scratch.state(".") == before)
  }

  @Test(arguments: readers + ["import"])
  func aDirectoryWhereAFileShouldBe(_ command: String) {
    scratch.makeDirectory("page")
    scratch.makeDirectory("page/0000000001.journal")
    let before = scratch.state(".")
    expect(run(command, "page", input: #"{"op":"clear"}"#), exit: 65, mentions: scratch["page"])
    #expect(scratch.state(".") == before)
  }

  @Test(arguments: ["verify", "replay", "compact", "salvage -o new", "import"])
  func anEmptyFileWhereTheJournalShouldBe(_ command: String) {
    makePage("page")
    let journal = Tool.shell("ls page/*.journal", in: scratch.path).lines[0]
    TestFile.write(scratch[journal], [])
    let before = scratch.state(".")
    let result = run(command, "page", input: #"{"op":"clear"}"#)
    expect(result, exit: 65, mentions: scratch["page"])
    #expect(scratch.state(".") == before)
  }

  @Test(arguments: readers + ["import"])
  func aPageOfANewerVersion(_ command: String) {
    makePage("page")
    let journal = Tool.shell("ls page/*.journal", in: scratch.path).lines[0]
    PageFile.setVersion(2, of: scratch[journal])
    let before = scratch.state(".")
    expect(run(command, "page", input: #"{"op":"clear"}"#), exit: 65, mentions: scratch["page"], "newer")
    #expect(scratch.state(".") == before)
  }

  @Test func aPageInsideAPage() {
    makePage("page")
    let before = scratch.state(".")
    expect(run("import", "page/inner", input: #"{"op":"clear"}"#), exit: 73, mentions: scratch["page/inner"])
    #expect(scratch.state(".") == before)
  }

  @Test func aPageBelowNothing() {
    expect(run("import", "absent/page", input: #"{"op":"clear"}"#), exit: 73, mentions: scratch["absent/page"])
    #expect(Tool.shell("ls -A", in: scratch.path).text == "")
  }

  @Test(arguments: ["verify", "replay", "compact", "import"])
  func wrongPermissions(_ command: String) throws {
    makePage("page")
    Tool.shell("chmod 000 page/*", in: scratch.path).expectClean()
    if getuid() == 0 { Tool.shell("chown -R 65534:65534 page", in: scratch.path).expectClean() }
    let before = scratch.state(".")
    let words = [Tool.path, command, scratch["page"]]
    // Root may read everything, so root runs this as nobody.
    let result = Tool.command(
      getuid() == 0 ? ["/usr/bin/setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"] + words : words,
      input: Array(#"{"op":"clear"}"#.utf8))
    expect(result, exit: 74, mentions: scratch["page"], "Permission denied")
    #expect(scratch.state(".") == before)
  }

  @Test(arguments: ["my page", "it's", "-n", "päge😀", "a\nb", "$HOME", "a\u{1B}[31mb"])
  func oddNames(_ name: String) {
    let page = name.hasPrefix("-") ? name : scratch[name]
    func tool(_ words: String..., input: String = "") -> Tool.Result {
      let quoted = words.map {
        "'" + $0.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
      }
      return Tool.shell("printf '%s' '\(input)' | \"$logctl\" " + quoted.joined(separator: " "), in: scratch.path)
    }
    #expect(tool("import", "--", page, input: #"{"key":"k","value":"v"}"#).exit == 0)
    #expect(tool("replay", "--", page).text == #"{"key":"k","value":"v"}"# + "\n")
    let verified = tool("verify", "--", page)
    #expect(verified.exit == 0)
    #expect(!verified.text.contains("\u{1B}"))
    #expect(verified.lines.count == 1)
  }

  @Test func aNameThatIsNotUTF8() {
    let result = Tool.shell("mkdir $'p\\xff'; \"$logctl\" verify $'p\\xff'", in: scratch.path)
    #expect(result.exit == 64)
    #expect(result.errors.contains("UTF-8"))
  }

  @Test func aKeyOfNoBytesAndOneTooLong() {
    let long = String(repeating: "k", count: 1025)
    for key in ["", long] {
      let page = "page\(key.count)"
      let input =
        "{\"key\":\"a\",\"value\":\"1\"}\n{\"key\":\"\(key)\",\"value\":\"2\"}\n{\"key\":\"c\",\"value\":\"3\"}\n"
      let result = run("import", page, input: input)
      #expect(result.exit == 65)
      #expect(result.errors.contains("line 2: "), "\(result.errors)")
      #expect(run("replay", page).text == "{\"key\":\"a\",\"value\":\"1\"}\n")
    }
  }

  /// It kept every writer from going on, and the advice was to check the medium.
  @Test(arguments: ["journal.tmp", "snapshot.tmp"])
  func aDirectoryInTheWayOfATemporaryFile(_ end: String) {
    makePage("page")
    scratch.makeDirectory("page/0000000001." + end)
    let compacted = run("compact", "page")
    #expect(compacted.exit == 65, "\(compacted)")
    #expect(compacted.errors.contains("a directory stands in the place of one of the page's files"), "\(compacted)")
    let verified = run("verify", "page")
    #expect([0, 3].contains(verified.exit), "\(verified)")
    #expect(verified.text.contains("move it out of the page's directory"), "\(verified)")
  }

  @Test func aStrangerWithTheLastNumber() {
    makePage("page")
    scratch.makeDirectory("page/9999999999.journal")
    let compacted = run("compact", "page")
    #expect(compacted.exit == 65, "\(compacted)")
    #expect(compacted.errors.contains("no generation number is left behind that of 9999999999.journal"), "\(compacted)")
  }

  @Test func tooManyOpenFiles() {
    makePage("page")
    let result = Tool.shell("ulimit -n 4; \"$logctl\" verify page", in: scratch.path)
    #expect(result.exit == 74, "\(result)")
    #expect(result.errors.contains("raise the limit on open files"), "\(result)")
  }

  /// A search behind a fault heard of nothing until its end: here, after minutes.
  @Test(.timeLimit(.minutes(2)), arguments: ["verify", "replay", "salvage -o new"])
  func anInterruptEndsALongSearch(_ command: String) {
    makePage("page")
    #expect(Tool.shell("truncate -s 4G page/0000000000.journal", in: scratch.path).exit == 0)
    let words = command.split(separator: " ").map { $0 == "new" ? scratch["new"] : String($0) }
    let child = ChildProcess([Tool.path] + words + [scratch["page"]])
    sleep(1)
    child.interrupt()
    #expect(child.wait() == 130)
  }
}

extension Tool.Result {
  func expectClean() { #expect(exit == 0, "\(errors)") }
}
