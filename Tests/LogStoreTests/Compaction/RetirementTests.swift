import Dispatch
import LogStoreTesting
import Testing

@testable import LogStore

/// Which files go, which stay, and what becomes of a page whose files cannot be moved.
@Suite struct RetirementTests {
  private let storage = SimulatedStorage(seed: 1)
  private let directory = JournalFixture.directory

  private func path(_ name: String) -> String { directory + "/" + name }

  /// A page of three generations, all kept.
  private func page() throws -> Page {
    let page = try Page.fixture(storage, .create)
    for key in ["a", "b"] {
      try page.put("v", for: key)
      try page.compact(keep: .all)
      storage.clock.advance(by: .seconds(700))
    }
    try page.put("v", for: "c")
    return page
  }

  @Test func withoutRoomTheGraceForCopiesEnds() throws {
    let page = try Page.fixture(storage, .create)
    try page.put(String(repeating: "v", count: 4000), for: "a")
    for _ in 0..<2 { try page.compact(keep: .previous) }
    let before = storage.names(in: directory).count
    storage.freeBytes = 6000
    let summary = try page.compact(keep: .previous)
    #expect(!summary.removedFiles.isEmpty)
    #expect(storage.names(in: directory).count < before + 2)
    #expect(try Page.fixture(storage.crash(.powerCut(.dropUnsynced))).keys() == ["a"])
  }

  @Test func aFileThatWentByItselfIsNoFailure() throws {
    let page = try page()
    let storage = storage
    storage.watch { [directory] call in
      if call.operation == .remove, call.name == "0000000000.journal" { storage.delete(directory + "/" + call.name) }
    }
    let summary = try page.compact(keep: Retention.none)
    #expect(!summary.removedFiles.contains("0000000000.journal"))
    #expect(summary.keptFiles.isEmpty)
    #expect(storage.names(in: directory) == ["0000000003.journal", "0000000003.snapshot"])
  }

  /// A gap cuts the newest journal off; it is moved aside, or stays where that fails.
  @Test(arguments: [false, true])
  func whatAGapHasCutOffIsSetAside(fails: Bool) throws {
    try page().close()
    // Neither what the newest journal follows nor its own snapshot can be had.
    storage.delete(path("0000000001.journal"))
    storage.edit(path("0000000002.snapshot")) { $0[20] ^= 1 }
    let cutOff = try #require(storage.contents(of: path("0000000002.journal")))
    let failures = Noted(0)
    let page = try Page.fixture(storage) {
      $0.onEvent = { if case .quarantineFailed = $0 { failures.change { $0 += 1 } } }
    }
    #expect(page.report.isIncomplete)
    let shown = try page.keys()
    if fails { storage.fail(Fault(.rename, .error(13)) { $0 == "0000000002.0000000000000000.quarantine" }) }
    let summary = try page.compact(keep: Retention.none)
    #expect(try page.keys() == shown)
    try page.close()
    let name = fails ? "0000000002.journal" : "0000000002.0000000000000000.quarantine"
    #expect(storage.contents(of: path(name)) == cutOff)
    #expect(summary.keptFiles.contains("0000000002.journal") == fails)
    #expect(failures.current == (fails ? 1 : 0))
    #expect(try Page.fixture(storage, .readOnly).keys() == shown)
  }

  /// The new name may not last; until it does, nothing goes that shows what the journal is.
  @Test func aDirectoryThatCannotBeSyncedBehindWhatWasSetAsideKeepsTheOldFiles() throws {
    try page().close()
    storage.delete(path("0000000001.journal"))
    storage.edit(path("0000000002.snapshot")) { $0[20] ^= 1 }
    let failures = Noted(0)
    let page = try Page.fixture(storage) {
      $0.onEvent = { if case .quarantineFailed = $0 { failures.change { $0 += 1 } } }
    }
    let storage = storage
    storage.watch { call in
      guard call.operation == .rename, call.name == "0000000002.0000000000000000.quarantine" else { return }
      storage.fail(Fault(.syncDirectory, .error(5)))
    }
    let before = Set(storage.names(in: directory)).subtracting(["0000000002.journal"])
    let summary = try page.compact(keep: Retention.none)
    storage.watch(nil)
    #expect(storage.faultHasFired)
    #expect(summary.removedFiles == ["0000000002.journal"])
    #expect(before.isSubset(of: storage.names(in: directory)) && before.isSubset(of: summary.keptFiles))
    try page.compact(keep: Retention.none)
    #expect(before.isDisjoint(with: storage.names(in: directory)))
    try page.close()
    #expect(failures.current == 1)
  }

  @Test func aDamagedJournalThatWentBeforeItWasSetAsideIsNoFailure() throws {
    try page().close()
    storage.edit(path("0000000002.journal")) { $0[180] ^= 1 }
    storage.fail(Fault(.create, .error(28)) { $0.contains(".quarantine") })
    let page = try Page.fixture(storage)
    storage.delete(path("0000000002.journal"))
    try page.compact(keep: Retention.none)
    #expect(try page.keys() == ["a", "b"])
  }

  @Test func aDirectoryUnderAFilesNameIsNotThePagesToRemove() throws {
    let page = try page()
    storage.delete(path("0000000000.journal"))
    storage.makeDirectory(path("0000000000.journal"))
    storage.delete(path("0000000001.snapshot"))
    storage.makeDirectory(path("0000000001.snapshot"))
    let summary = try page.compact(keep: Retention.none)
    #expect(
      !(summary.removedFiles + summary.keptFiles).contains { $0 == "0000000000.journal" || $0 == "0000000001.snapshot" }
    )
    #expect(storage.names(in: directory).count == 4)
  }

  /// A header tells whose a file is, also under a number that is not its own.
  @Test func anotherPagesFilesUnderWrongNumbersAreNotThePagesToRemove() throws {
    var options = PageOptions()
    options.storage = storage
    options.compaction = .manual
    let other = try Page(path: "/other", options: options)
    try other.put("v", for: "x")
    try other.compact(keep: .all)
    try other.close()
    let page = try page()
    try page.compact(keep: Retention.none)
    let strangers = ["0000000001.journal": "0000000000.journal", "0000000002.snapshot": "0000000001.snapshot"]
    for (name, theirs) in strangers {
      storage.place(try #require(storage.contents(of: "/other/" + theirs)), at: path(name))
    }
    storage.clock.advance(by: .seconds(700))
    try page.compact(keep: Retention.none)
    for (name, theirs) in strangers {
      #expect(storage.contents(of: path(name)) == storage.contents(of: "/other/" + theirs), "\(name)")
    }
  }

  @Test func aCompactionComesByItself() throws {
    let done = DispatchSemaphore(value: 0)
    let page = try Page.fixture(storage, .create) { options in
      options.compaction = CompactionPolicy()
      options.compaction.minimumBytes = 2000
      options.onEvent = { if case .compactionFinished = $0 { done.signal() } }
    }
    for number in 0..<20 { try page.put(String(repeating: "v", count: 200), for: "\(number)") }
    #expect(done.wait(timeout: .now() + 60) == .success)
    #expect(storage.names(in: directory).contains { $0.hasSuffix(".snapshot") })
    #expect(try page.view().count == 20)
    try page.close()
  }
}
