import LogStore
import LogStoreTesting
import Testing

@testable import CrashHarness

/// Services that sync folders rename files, double them, and leave placeholders for them.
@Suite struct SyncedNamesTests {
  private static let doubles = [
    "0000000001.journal (conflict 2)", "0000000001 2.journal", "0000000001.snapshot.sync-conflict",
    ".0000000001.journal.icloud",
  ]

  private func page() throws -> SimulatedStorage {
    let storage = SimulatedStorage(seed: 1)
    let page = try Page.open(storage)
    try page.put("one", for: "a")
    try page.compact(keep: Retention.none)
    try page.put("two", for: "b")
    try page.close()
    return storage
  }

  @Test func doublesAreToleratedReportedAndLeftAlone() throws {
    let storage = try page()
    let journal = try #require(storage.contents(of: pagePath + "/0000000001.journal"))
    for name in SyncedNamesTests.doubles { storage.place(journal, at: pagePath + "/" + name) }
    let report = try PageInspector(path: pagePath, storage: storage).verify()
    #expect(report.severity != .damage)
    for name in SyncedNamesTests.doubles {
      #expect(report.findings.contains { $0.kind == .stranger && $0.file == name }, "\(name)")
    }
    for mode in [OpenMode.readOnly, .readWrite] { #expect(try Page.open(storage, mode).keys() == ["a", "b"]) }
    let page = try Page.open(storage)
    try page.put("three", for: "c")
    try page.compact(keep: Retention.none)
    try page.close()
    for name in SyncedNamesTests.doubles { #expect(storage.contents(of: pagePath + "/" + name) == journal, "\(name)") }
    #expect(try Page.open(storage).keys() == ["a", "b", "c"])
  }

  @Test(arguments: ["0000000001.journal", "0000000001.snapshot"])
  func aPlaceholderInThePlaceOfAFileIsNoEmptyPage(name: String) throws {
    let storage = try page()
    storage.place(bytes("a placeholder"), at: pagePath + "/." + name + ".icloud")
    storage.delete(pagePath + "/" + name)
    do {
      let page = try Page.open(storage, .readOnly)
      #expect(page.report.isIncomplete)
      #expect(try page.keys().first == "a")
    } catch let error as LogStoreError {
      #expect(error.code == .noBase)
    }
  }

  @Test func aPageUnderAnotherNameIsTheSamePage() throws {
    let storage = try page()
    let position = try Page.open(storage, .readOnly).position
    storage.move(pagePath, to: "/page (conflict 2)")
    let renamed = try Page(path: "/page (conflict 2)", mode: .readWrite, options: quietOptions(storage))
    #expect(renamed.position == position)
    try renamed.put("three", for: "c")
    #expect(try renamed.keys() == ["a", "b", "c"])
  }
}
