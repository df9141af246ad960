import Testing

@testable import LogStore

@Suite struct PageNameTests {
  @Test func namesAreReadAsTheyAreWritten() {
    for file in [
      PageFile.journal(0), .journal(9_999_999_999), .snapshot(17), .quarantine(3, offset: 0),
      .quarantine(4, offset: .max),
    ] {
      #expect(PageName(file.name) == .file(file))
      #expect(PageName(file.temporaryName) == .temporary)
    }
    #expect(PageName("0000000001.snapshot.tables.tmp") == .temporary)
  }

  @Test(arguments: [
    "", "notes.txt", "000000001.journal", "00000000001.journal", "0000000001", "0000000001.", "0000000001.journals",
    "0000000001.journal.bak", "0000000001 journal", "000000000a.journal", "000000000A.journal", "0000000001.quarantine",
    "0000000001.00000000000000ff.quarantined", "0000000001.ff.quarantine", "0000000001.00000000000000FF.quarantine",
    "0000000001.00000000000000fg.quarantine", "0000000001.journal (conflict 2)",
  ])
  func otherNamesAreNotThePages(name: String) {
    #expect(PageName(name) == nil)
  }

  @Test func aFindingIsOneLine() {
    let plain = Finding(.stranger, .note, file: "notes.txt", detail: "it is not the page's")
    #expect(plain.description == "note: stranger in notes.txt: it is not the page's")
    let full = Finding(
      .damagedFrame, .damage, file: "0000000000.journal", range: 128..<140, lsns: 5...6, detail: "it does not verify",
      lostOperations: 2, remedy: "logctl compact PAGE")
    #expect(
      full.description == "damage: damaged-frame in 0000000000.journal at bytes 128 to 140, LSN 5 to 6: "
        + "it does not verify; at most 2 operations lost; next: logctl compact PAGE")
  }
}
