import Testing

/// What goes in comes out.
@Suite struct RoundTripTests {
  let scratch = Scratch()

  private func importLines(_ page: String, _ lines: String, _ options: String...) -> Tool.Result {
    Tool.run(["import", scratch[page]] + options, input: Array(lines.utf8))
  }

  private func replay(_ page: String, _ options: String...) -> Tool.Result {
    Tool.run(["replay", scratch[page]] + options)
  }

  private let edits = """
    {"op":"put","key":"a","value":"1"}
    {"op":"put","key":"b","value":"2"}
    {"op":"put","key":"c","value":"3","before":"a"}
    {"op":"move","key":"b","before":"c"}
    {"op":"put","key":"a","value":"4"}
    {"op":"remove","key":"c"}
    {"op":"move","key":"b","before":null}
    {"op":"put","key64":"/w==","value64":"AP8="}
    {"op":"put","key":"","value":"","key":""}
    """

  private var goodEdits: String { edits.split(separator: "\n").dropLast().joined(separator: "\n") + "\n" }

  @Test(arguments: ["1", "3", "1000"])
  func everyOperation(_ batch: String) {
    let result = importLines("page", goodEdits, "--batch", batch)
    #expect(result.exit == 0, "\(result)")
    #expect(
      replay("page").text == """
        {"key":"a","value":"4"}
        {"key":"b","value":"2"}
        {"key64":"/w==","value64":"AP8="}

        """)
    #expect(replay("page", "--values").output == Array("42".utf8) + [0, 0xFF])
  }

  /// The state after each operation, from the history that the first journal is.
  @Test(arguments: [
    (0, ""), (1, "a1"), (2, "a1b2"), (3, "c3a1b2"), (4, "b2c3a1"), (5, "b2c3a4"), (6, "b2a4"), (7, "a4b2"),
  ])
  func atEveryOperation(_ lsn: Int, _ expected: String) {
    #expect(importLines("page", goodEdits).exit == 0)
    let result = replay("page", "--at", String(lsn))
    #expect(result.exit == 0, "\(result)")
    let shown = result.lines.map { $0.filter { !"{}\":,".contains($0) } }.map {
      $0.replacingNames()
    }
    #expect(shown.joined() == expected)
  }

  @Test func atAMomentThatIsNotKept() {
    #expect(importLines("page", goodEdits).exit == 0)
    let future = replay("page", "--at", "1000")
    #expect(future.exit == 1, "\(future)")
    #expect(future.errors.contains("8"), "names the range there is: \(future.errors)")
    #expect(Tool.run("compact", "--keep", "none", scratch["page"]).exit == 0)
    let past = replay("page", "--at", "2")
    #expect(past.exit == 1, "\(past)")
    #expect(past.output.isEmpty)
  }

  @Test func atATime() {
    #expect(importLines("page", goodEdits).exit == 0)
    #expect(replay("page", "--at", "2200-01-01T00:00:00Z").text == replay("page").text)
    #expect(replay("page", "--at", "1999-01-01T00:00:00+02:00").exit != 64)
  }

  @Test func whatReplayPrintsCanBeImported() {
    #expect(importLines("page", goodEdits).exit == 0)
    let text = replay("page").text
    #expect(importLines("copy", text).exit == 0)
    #expect(replay("copy").text == text)
  }

  @Test func compactingChangesNothing() {
    #expect(importLines("page", goodEdits).exit == 0)
    let text = replay("page").text
    let estimate = Tool.run("compact", "-n", scratch["page"])
    #expect(estimate.exit == 0, "\(estimate)")
    let before = scratch.state("page")
    #expect(Tool.run("compact", "--dry-run", scratch["page"]).exit == 0)
    #expect(scratch.state("page") == before)
    for keep in ["all", "1", "none"] {
      let result = Tool.run("compact", "--keep", keep, scratch["page"])
      #expect(result.exit == 0, "\(result)")
      #expect(replay("page").text == text)
      #expect(Tool.run("verify", scratch["page"]).exit == 0)
    }
  }

  @Test func frames() {
    #expect(importLines("page", goodEdits).exit == 0)
    let operations = replay("page", "--frames").lines.filter { !$0.contains("\"mark\"") }
    #expect(operations.count == 8)
    #expect(operations.first?.hasPrefix(#"{"lsn":1,"generation":0,"offset":"#) == true, "\(operations)")
    #expect(operations.first?.hasSuffix(#""kind":"put","end":true,"key":"a"}"#) == true, "\(operations)")
    let some = replay("page", "--frames", "--from", "3", "--to", "4").lines.filter { !$0.contains("\"mark\"") }
    #expect(some == Array(operations.dropFirst(2).prefix(2)))
  }

  @Test func everyKindOfText() {
    let lines = #"""
      {"key":"\u0000\"\\\/\b\f\n\r\t\u001f\u007f","value":"é€😀\ud83d\ude00\u2028"}
      {"key":"k","value":""}

      """#
    #expect(importLines("page", lines).exit == 0)
    #expect(
      replay("page").text == #"{"key":"\u0000\"\\/\b\f\n\r\t\u001f"# + "\u{7F}" + #"","value":"é€😀😀"# + "\u{2028}\"}\n"
        + #"{"key":"k","value":""}"# + "\n")
  }

  /// A value that is longer than the buffers, as text and as bytes.
  @Test func longValues() {
    let text = String(repeating: "0123456789\\n", count: 100_000)
    #expect(
      importLines("page", "{\"key\":\"k\",\"value\":\"\(text)\"}\n{\"key64\":\"/w==\",\"value\":\"x\"}").exit == 0)
    #expect(replay("page").text == "{\"key\":\"k\",\"value\":\"\(text)\"}\n{\"key64\":\"/w==\",\"value\":\"x\"}\n")
    let bytes = String(repeating: "AAH/", count: 400_000)
    #expect(importLines("bytes", "{\"key\":\"k\",\"value64\":\"\(bytes)AA==\"}").exit == 0)
    #expect(replay("bytes").text == "{\"key\":\"k\",\"value64\":\"\(bytes)AA==\"}\n")
    #expect(replay("bytes", "--values").output.count == 1_200_001)
  }
}

extension String {
  /// `keyavalue1` as `a1`.
  fileprivate func replacingNames() -> String {
    var text = self[...]
    if text.hasPrefix("key64") { return String(text) }
    text = text.dropFirst(3)
    let key = text.prefix(1)
    return String(key + text.dropFirst(6))
  }
}
