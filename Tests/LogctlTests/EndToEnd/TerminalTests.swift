import Glibc
import Testing

/// What only a person at a terminal sees.
@Suite(.timeLimit(.minutes(1)))
struct TerminalTests {
  let scratch = Scratch()
  let terminal = Terminal()

  private func pageWithALoss() -> String {
    let page = scratch["page"]
    let lines = (1...5).map { "{\"key\":\"k\($0)\",\"value\":\"\($0)\"}\n" }.joined()
    #expect(Tool.run("import", page, input: lines).exit == 0)
    PageFile.flipBit(at: 150, of: page + "/0000000000.journal")
    #expect(Tool.run("import", page, input: "{\"key\":\"k6\",\"value\":\"6\"}\n").exit == 2)
    return page
  }

  @Test(arguments: [("y\n", 0), ("YES\n", 0), ("n\n", 1), ("\n", 1), ("\u{4}", 1), ("\u{3}", 130)])
  func forgetAsks(_ answer: String, _ exit: Int32) {
    let page = pageWithALoss()
    let child = ChildProcess(
      [Tool.path, "forget", page], input: terminal.path, output: scratch["out"], errors: terminal.path)
    let question = "Forget 1 recorded loss of \(page)? [y/N] "
    #expect(terminal.read(until: question).contains("recorded loss in 0000000000.journal"))
    terminal.type(answer)
    #expect(child.wait() == exit)
    #expect(Tool.run("verify", page).text.contains("recorded loss") == (exit != 0))
  }

  @Test func progressComesAfterHalfASecondAndGoes() {
    let (pipe, end) = scratch.makePipe("pipe")
    let child = ChildProcess(
      [Tool.path, "import", scratch["page"]], environment: ["TERM": "xterm"], input: pipe, output: scratch["out"],
      errors: terminal.path)
    let line = Array("{\"key\":\"k\",\"value\":\"v\"}\n".utf8)
    // As long as it takes: the program may start late.
    let start = ContinuousClock.now
    var seen = ""
    for _ in 0..<300 where !seen.contains("importing 1") {
      _ = unsafe write(end, line, line.count)
      usleep(100_000)
      seen += terminal.available()
      if ContinuousClock.now - start < .milliseconds(450) { #expect(seen == "") }
    }
    close(end)
    #expect(child.wait() == 0)
    seen += terminal.readToEnd()
    #expect(seen.contains("\(scratch["page"]): importing 1"), "\(seen)")
    #expect(seen.hasSuffix("\r\u{1B}[K"), "\(seen)")
  }

  @Test func colorsAreOnUnlessRefused() {
    #expect(Tool.run("import", scratch["page"]).exit == 0)
    func verify(_ environment: [String: String]) -> String {
      let own = Terminal()
      let child = ChildProcess([Tool.path, "verify", scratch["page"]], environment: environment, output: own.path)
      #expect(child.wait() == 0)
      return own.read(until: "\n")
    }
    #expect(verify(["TERM": "xterm"]).contains("\u{1B}[32mclean"))
    #expect(verify(["TERM": "xterm", "NO_COLOR": ""]).contains("\u{1B}[32mclean"))
    #expect(!verify(["TERM": "xterm", "NO_COLOR": "1"]).contains("\u{1B}["))
    #expect(!verify(["TERM": "dumb"]).contains("\u{1B}["))
  }
}
