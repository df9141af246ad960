import Glibc
import Testing

@Suite struct ImportTests {
  let scratch = Scratch()

  private func line(_ key: Int) -> String { "{\"key\":\"\(key)\",\"value\":\"v\"}\n" }

  private var records: Int { Tool.run("replay", scratch["page"]).lines.count }

  /// The batch with the bad line is not written, and all before it are.
  @Test(arguments: [(1, 5), (2, 4), (5, 5), (6, 0)])
  func aMalformedLine(_ batch: Int, _ survivors: Int) {
    let input = (1...5).map(line).joined() + "{\"key\":7}\n" + line(8)
    let result = Tool.run("import", scratch["page"], "--batch", String(batch), input: input)
    #expect(result.exit == 65)
    #expect(
      result.errors == "Error: line 6, column 8: member \"key\" must be a string, found a number\n", "\(result)")
    #expect(records == survivors)
    #expect(Tool.run("verify", scratch["page"]).exit == 0)
  }

  @Test func theLastLineNeedsNoEnd() {
    let result = Tool.run("import", scratch["page"], input: line(1) + "\n \r\n" + line(2).dropLast())
    #expect(result.exit == 0, "\(result)")
    #expect(records == 2)
  }

  @Test func aLastLineThatIsCutOff() {
    let result = Tool.run("import", scratch["page"], input: line(1) + line(2).dropLast(3))
    #expect(result.exit == 65)
    #expect(result.errors.hasPrefix("Error: line 2, column "))
    #expect(records == 1)
  }

  @Test func nothingAtAll() {
    let result = Tool.run("import", scratch["page"])
    #expect(result.exit == 0, "\(result)")
    #expect(records == 0)
    #expect(Tool.run("verify", scratch["page"]).exit == 0)
  }

  @Test(arguments: ["power", "ordered", "process"])
  func durability(_ level: String) {
    #expect(Tool.run("import", scratch["page"], "--durability", level, input: line(1) + line(2)).exit == 0)
    #expect(records == 2)
  }

  @Test func theSummary() {
    let result = Tool.run("import", "--batch", "2", scratch["page"], input: (1...5).map(line).joined())
    #expect(result.lines.first == "\(scratch["page"]): imported 5 operations in 3 batches from 5 lines, 120 B")
    let json = Tool.run("import", "--json", scratch["page"], input: line(9))
    let start = #"{"schema":"logctl.import.summary/1","status":"clean","exit":0,"lines":1,"batches":1,"operations":1,"#
    #expect(json.lines.last?.hasPrefix(start) == true, "\(json)")
    let failed = Tool.run("import", "--json", scratch["page"], input: "x\n")
    #expect(failed.lines.count == 2)
    #expect(failed.lines.first?.hasPrefix(#"{"schema":"logctl.import.error/1","#) == true, "\(failed)")
    #expect(
      failed.lines.last?.hasPrefix(#"{"schema":"logctl.import.summary/1","status":"malformed","exit":65,"#) == true)
  }

  /// Ctrl-C while the import waits for input: what was read by then stands.
  @Test(.timeLimit(.minutes(1)))
  func interrupted() {
    let (pipe, end) = scratch.makePipe("pipe")
    let child = ChildProcess(
      [Tool.path, "import", "--json", scratch["page"]], input: pipe, output: scratch["out"], errors: scratch["err"])
    let input = Array((line(1) + line(2)).utf8)
    _ = unsafe write(end, input, input.count)
    // Until it has read the input and waits for more, there is nothing to interrupt.
    while self.records < 2 { usleep(2000) }
    child.interrupt()
    #expect(child.wait() == 130)
    close(end)
    #expect(String(decoding: TestFile.read(scratch["err"]) ?? [], as: UTF8.self) == "")
    let summary = String(decoding: TestFile.read(scratch["out"]) ?? [], as: UTF8.self)
    #expect(summary.contains(#""status":"interrupted","exit":130,"lines":2,"batches":2,"#), "\(summary)")
    #expect(Tool.run("verify", scratch["page"]).exit == 0)
    #expect(records == 2)
  }

  @Test func aLockedPage() {
    #expect(Tool.run("import", scratch["page"], input: line(1)).exit == 0)
    let directory = unsafe open(scratch["page"], O_RDONLY | O_CLOEXEC)
    defer { close(directory) }
    #expect(flock(directory, LOCK_EX | LOCK_NB) == 0)
    let before = scratch.state("page")
    for command in ["import", "compact", "forget --yes"] {
      let result = Tool.run(command.split(separator: " ").map(String.init) + [scratch["page"]])
      #expect(result.exit == 75, "\(result)")
      #expect(result.errors.hasPrefix("Error: "))
    }
    #expect(scratch.state("page") == before)
    // Readers take no lock.
    #expect(Tool.run("verify", scratch["page"]).exit == 0)
    #expect(records == 1)
  }
}
