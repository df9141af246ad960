import Testing

/// A directory of pages stands for all of them.
@Suite struct SeveralPagesTests {
  let scratch = Scratch()

  init() {
    for name in ["one", "two"] {
      _ = Tool.run("import", scratch[name], input: "{\"key\":\"\(name)\",\"value\":\"v\"}\n")
    }
  }

  @Test func replayNamesThePage() {
    let result = Tool.run("replay", scratch.path)
    #expect(
      result.lines == ["one", "two"].map { #"{"page":"\#(scratch[$0])","key":"\#($0)","value":"v"}"# }, "\(result)")
    #expect(Tool.run("replay", scratch.path + "//").text == result.text)
    let values = Tool.run("replay", "--values", scratch.path)
    #expect(values.exit == 64)
    #expect(values.output.isEmpty)
    #expect(Tool.run("replay", "--frames", scratch.path).lines.allSatisfy { $0.hasPrefix(#"{"page":"/"#) })
  }

  @Test func verifyCountsThem() {
    PageFile.append([1, 2, 3], to: scratch["two/0000000000.journal"])
    let result = Tool.run("verify", scratch.path)
    #expect(result.exit == 3, "\(result)")
    #expect(result.lines.first?.hasPrefix("\(scratch["one"]): clean (") == true)
    #expect(
      result.lines.contains {
        $0.hasPrefix("\(scratch["two"]): sound, as a crash leaves it; nothing is known to be gone (")
      })
    #expect(result.lines.last == "2 pages: 1 clean, 1 sound")
  }

  @Test func oneFailureDoesNotStopTheOthers() {
    PageFile.setVersion(2, of: scratch["one/0000000000.journal"])
    let result = Tool.run("verify", scratch.path)
    #expect(result.exit == 65, "\(result)")
    #expect(result.lines.first?.hasPrefix("\(scratch["two"]): clean (") == true)
    #expect(result.lines.last == "2 pages: 1 clean, 1 not verified")
    let json = Tool.run("verify", "--json", scratch.path)
    #expect(json.lines.count == 3)
    #expect(json.lines.last?.hasPrefix(#"{"schema":"logctl.verify.summary/1","status":"malformed","exit":65,"#) == true)
  }

  /// It was passed over, and the others were all that there seemed to be.
  @Test func aPageWhoseNameIsNotTextIsAnError() {
    let made = Tool.shell(#"mv one "$(printf 'caf\351')""#, in: scratch.path)
    #expect(made.exit == 0, "\(made)")
    for command in [["verify"], ["replay"], ["salvage", "-o", scratch["new"]], ["compact"]] {
      let result = Tool.run(command + [scratch.path])
      #expect(result.exit == 66, "\(command): \(result)")
      #expect(result.errors.contains("where its name is not UTF-8, rename it"), "\(command): \(result)")
    }
    #expect(Tool.run("replay", scratch["new/two"]).text == #"{"key":"two","value":"v"}"# + "\n")
    #expect(Tool.run("verify", scratch.path).lines.last == "2 pages: 1 clean, 1 not verified")
  }

  @Test func compactAndSalvageTakeEach() {
    let compacted = Tool.run("compact", scratch.path)
    #expect(compacted.exit == 0, "\(compacted)")
    #expect(compacted.lines.contains { $0.hasPrefix("\(scratch["two"]): compacted to generation 1, 1 record") })
    let salvaged = Tool.run("salvage", scratch.path, "-o", scratch["new"])
    #expect(salvaged.exit == 0, "\(salvaged)")
    #expect(Tool.run("replay", scratch["new/two"]).text == #"{"key":"two","value":"v"}"# + "\n")
    #expect(Tool.run("salvage", scratch.path, "-o", scratch["new"]).exit == 73)
  }
}
