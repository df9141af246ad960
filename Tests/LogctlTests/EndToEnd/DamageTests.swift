import Testing

/// What the commands say and do about a page that is not as it was written.
@Suite struct DamageTests {
  let scratch = Scratch()

  /// A page of ten records in two sessions, so that everything of the first is known to be durable.
  private func makePage() -> (page: String, journal: String) {
    func lines(_ range: ClosedRange<Int>) -> String {
      range.map { "{\"key\":\"k\($0)\",\"value\":\"\($0)\"}\n" }.joined()
    }
    let page = scratch["page"]
    #expect(Tool.run("import", page, input: lines(1...5)).exit == 0)
    #expect(Tool.run("import", page, input: lines(6...10)).exit == 0)
    return (page, page + "/0000000000.journal")
  }

  /// Where the payload of an operation's frame begins.
  private func offset(of lsn: Int, in page: String) -> Int {
    let frames = Tool.run("replay", "--frames", "--from", String(lsn), "--to", String(lsn), page).lines
    guard let frame = frames.first(where: { $0.contains("\"key\"") }),
      let field = frame.split(separator: ",").first(where: { $0.hasPrefix("\"offset\":") }),
      let offset = Int(field.dropFirst("\"offset\":".count))
    else {
      Issue.record("no frame of operation \(lsn) in \(frames)")
      return 0
    }
    return offset + 9
  }

  private func damagedPage() -> String {
    let (page, journal) = makePage()
    PageFile.flipBit(at: offset(of: 3, in: page) + 3, of: journal)
    return page
  }

  @Test func verifyFindsAFlippedBit() {
    let page = damagedPage()
    let before = scratch.state("page")
    let result = Tool.run("verify", page)
    #expect(result.exit == 2)
    #expect(result.errors == "")
    #expect(result.lines.first?.hasPrefix("\(page): damaged, at most 1 operation lost (") == true, "\(result)")
    #expect(result.text.contains("damage: damaged frame in 0000000000.journal at byte "), "\(result)")
    #expect(result.text.contains("LSN 3"), "\(result)")
    #expect(result.text.contains("next: logctl "), "\(result)")
    #expect(scratch.state("page") == before)
  }

  /// Counts that no page can have: their sums are told, and nothing traps.
  @Test(arguments: ["impossible-sums", "impossible-lsn-of-a-mark", "impossible-lsn-of-a-journal"])
  func whatCannotBeTrueIsTold(name: String) {
    let tests = #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 }
    let page = scratch["page"]
    #expect(Tool.command(["/bin/cp", "-r", tests + "/Conformance/golden/" + name, page]).exit == 0)
    for command in [["verify"], ["replay"], ["replay", "--frames"], ["salvage", "-o", scratch["new"]], ["compact"]] {
      let result = Tool.run(command + ["--json", page])
      #expect([0, 2, 3].contains(result.exit), "\(command): \(result)")
      #expect(result.lines.last?.contains(".summary/1\"") == true, "\(command): \(result)")
    }
  }

  @Test func verifyTellsPrograms() {
    let page = damagedPage()
    let result = Tool.run("verify", "--json", page)
    #expect(result.exit == 2)
    #expect(result.lines.allSatisfy { $0.hasPrefix(#"{"schema":"logctl.verify."#) && $0.hasSuffix("}") })
    #expect(
      result.lines.contains { $0.contains(#""kind":"damaged-frame","severity":"damage","file":"0000000000.journal""#) })
    #expect(
      result.lines.last?.hasPrefix(#"{"schema":"logctl.verify.summary/1","status":"damage","exit":2,"pages":1,"#)
        == true)
  }

  @Test func replayGivesTheRestAndSaysSo() {
    let page = damagedPage()
    let before = scratch.state("page")
    let result = Tool.run("replay", "--values", page)
    #expect(result.exit == 2)
    #expect(result.text == "1245678910")
    #expect(result.errors.contains("damage: damaged frame in 0000000000.journal"), "\(result.errors)")
    #expect(Tool.run("replay", "--values", "--policy", "pointInTime", page).text == "12")
    let strict = Tool.run("replay", "--policy", "strict", page)
    #expect(strict.exit == 2)
    #expect(strict.output.isEmpty)
    #expect(strict.errors.hasPrefix("Error: "))
    #expect(scratch.state("page") == before)
  }

  @Test func salvageCopiesTheRest() {
    let page = damagedPage()
    let before = scratch.state("page")
    let result = Tool.run("salvage", page, "-o", scratch["new"])
    #expect(result.exit == 2, "\(result)")
    #expect(result.lines.first?.hasPrefix("\(page): salvaged 9 records") == true, "\(result)")
    #expect(result.text.contains("damaged frame"), "\(result)")
    #expect(scratch.state("page") == before)
    #expect(Tool.run("replay", "--values", scratch["new"]).text == "1245678910")
    // The new page must not exist yet.
    #expect(Tool.run("salvage", page, "-o", scratch["new"]).exit == 73)
  }

  @Test func salvageOfASoundPageMissesNothing() {
    let (page, _) = makePage()
    let result = Tool.run("salvage", page, "-o", scratch["new"])
    #expect(result.exit == 0, "\(result)")
    #expect(Tool.run("replay", scratch["new"]).text == Tool.run("replay", page).text)
    #expect(Tool.run("verify", scratch["new"]).exit == 0)
  }

  /// Everything was copied from what is kept, and yet a file was called missing that was there.
  @Test func salvageGoesAroundALinkInASnapshotsPlace() {
    let page = scratch["page"]
    for number in 1...3 {
      #expect(Tool.run("import", page, input: "{\"key\":\"k\(number)\",\"value\":\"\(number)\"}\n").exit == 0)
      if number < 3 { #expect(Tool.run("compact", page).exit == 0) }
    }
    #expect(
      Tool.shell("mv page/0000000002.snapshot x && ln -s ../x page/0000000002.snapshot", in: scratch.path).exit == 0)
    let result = Tool.run("salvage", page, "-o", scratch["new"])
    #expect(result.exit == 0, "\(result)")
    #expect(result.text.contains("nothing is missing"), "\(result)")
    #expect(result.text.contains("stranger in 0000000002.snapshot"), "\(result)")
    #expect(Tool.run("replay", "--values", scratch["new"]).text == "123")
    // Without anything older there is nothing to start from, and that is said.
    #expect(Tool.shell("rm page/0000000001.snapshot page/0000000000.journal", in: scratch.path).exit == 0)
    let gap = Tool.run("salvage", page, "-o", scratch["other"])
    #expect(gap.text.contains("nothing complete to start from"), "\(gap)")
  }

  @Test func theCommandThatRunsIsNotAdvised() {
    let page = damagedPage()
    let looked = Tool.run("compact", "--dry-run", page)
    #expect(looked.errors.contains("next: logctl compact"), "\(looked)")
    let compacted = Tool.run("compact", page)
    #expect(compacted.errors.contains("damaged frame") && !compacted.errors.contains("next: "), "\(compacted)")
  }

  @Test func aLossIsReportedUntilItIsForgotten() {
    let page = damagedPage()
    // Opening for writing records the loss.
    #expect(Tool.run("import", page, input: "{\"key\":\"k11\",\"value\":\"11\"}\n").exit == 2)
    let reported = Tool.run("replay", "--values", page)
    #expect(reported.exit == 2)
    #expect(reported.errors.contains("recorded loss"), "\(reported)")
    #expect(reported.text == "124567891011")

    let refused = Tool.run("forget", page)
    #expect(refused.exit == 64, "\(refused)")
    #expect(refused.errors.contains("--yes"))
    #expect(refused.errors.contains("recorded loss in 0000000000.journal"), "what would be agreed to: \(refused)")
    let forgotten = Tool.run("forget", "--yes", page)
    #expect(forgotten.exit == 0, "\(forgotten)")
    #expect(forgotten.text == "\(page): forgot 1 recorded loss\n")
    let again = Tool.run("forget", page)
    #expect(again.exit == 0, "\(again)")
    #expect(again.text == "\(page): no losses are on record\n")
    let sound = Tool.run("replay", "--values", page)
    #expect(sound.exit == 0, "\(sound)")
    #expect(sound.text == "124567891011")
  }

  @Test func aTornTailIsBenign() {
    let (page, journal) = makePage()
    PageFile.append([1, 2, 3], to: journal)
    let before = scratch.state("page")
    let verified = Tool.run("verify", page)
    #expect(verified.exit == 3, "\(verified)")
    #expect(verified.text.contains("torn tail in 0000000000.journal at byte "), "\(verified)")
    let result = Tool.run("replay", "--values", page)
    #expect(result.exit == 3)
    #expect(result.text == "12345678910")
    #expect(result.errors.contains("torn tail"))
    #expect(scratch.state("page") == before)
    // The next writer goes on, and then all is well.
    #expect(Tool.run("import", page, input: "{\"key\":\"k11\",\"value\":\"11\"}\n").exit == 3)
    #expect(Tool.run("replay", "--values", page).text == "1234567891011")
  }

  @Test func aCompactionMakesADamagedSnapshotGood() {
    let (page, _) = makePage()
    #expect(Tool.run("compact", page).exit == 0)
    let snapshot = page + "/0000000001.snapshot"
    PageFile.flipBit(at: 140, of: snapshot)
    let verified = Tool.run("verify", page)
    #expect(verified.exit == 2, "\(verified)")
    #expect(verified.text.contains("damaged snapshot in 0000000001.snapshot"), "\(verified)")
    // Served from the generation that was kept, and not in silence.
    let served = Tool.run("replay", "--values", page)
    #expect(served.text == "12345678910")
    #expect(served.exit == 2, "\(served)")
    #expect(served.errors.contains("damaged snapshot in 0000000001.snapshot"), "\(served)")
    let mended = Tool.run("compact", page)
    #expect(mended.exit == 2, "\(mended)")
    #expect(mended.errors.contains("damaged snapshot in 0000000001.snapshot"), "\(mended)")
    let sound = Tool.run("replay", "--values", page)
    #expect(sound.exit == 0, "\(sound)")
    #expect(sound.text == "12345678910")
  }
}
