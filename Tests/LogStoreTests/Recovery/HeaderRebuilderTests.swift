import LogStoreTesting
import Testing

@testable import LogStore

/// What the files around it say of a journal whose header is lost.
@Suite struct HeaderRebuilderTests {
  private let directory = JournalFixture.directory

  /// The journal that followed a snapshot, when its own was missing, lost its header.
  @Test func aJournalBehindASnapshotAloneIsPutTogetherFromItsMarks() throws {
    let storage = SimulatedStorage(seed: 1)
    let first = try Page.fixture(storage, .create)
    try first.put("v", for: "a")
    try first.compact(keep: Retention.none)
    try first.close()
    storage.delete(directory + "/0000000001.journal")
    let second = try Page.fixture(storage)
    try second.put("v", for: "b")
    try second.close()
    #expect(storage.names(in: directory) == ["0000000001.snapshot", "0000000002.journal"])
    storage.edit(directory + "/0000000002.journal") { $0[60] ^= 1 }
    let page = try Page.fixture(storage)
    #expect(try page.keys() == ["a", "b"])
    #expect(page.report.findings.contains { $0.kind == .damagedHeader })
    try page.put("v", for: "c")
    #expect(try Page.fixture(storage.crash(.powerCut(.dropUnsynced))).keys() == ["a", "b", "c"])
  }

  /// A mark that counts fewer operations than stand in front of it cannot say where the log began.
  @Test func aMarkThatContradictsTheLogRebuildsNothing() throws {
    let journal = JournalFixture()
    journal.put("a")
    journal.put("b")
    journal.mark(1, durableEnd: journal.end, closed: true)
    let storage = JournalFixture.storage(journal)
    storage.edit(journal.path) { $0[60] ^= 1 }
    let error = #expect(throws: LogStoreError.self) { try Page.fixture(storage) }
    #expect(error?.code == .noBase)
  }

  /// The first of several marks says where the log began, whatever those behind it say.
  @Test func theFirstMarkCounts() throws {
    let journal = JournalFixture()
    journal.put("a")
    journal.mark(5, durableEnd: 128)
    journal.mark(9, durableEnd: 128)
    let storage = JournalFixture.storage(journal)
    storage.edit(journal.path) { $0[60] ^= 1 }
    let files = try PageFiles(storage.openDirectory(directory, create: false), cacheBytes: 0)
    let rebuilt = try #require(try HeaderRebuilder(files, id: nil).rebuild(0)).header
    #expect(rebuilt.baseLSN == 4 && rebuilt.salt == journal.header.salt)
  }

  /// A mark with an impossible LSN is none; the next one will do.
  @Test func anImpossibleMarkIsPassedOver() throws {
    let journal = JournalFixture()
    journal.mark(Limits.lsn + 1, durableEnd: 128)
    let storage = JournalFixture.storage(journal)
    storage.edit(journal.path) { $0[60] ^= 1 }
    let error = #expect(throws: LogStoreError.self) { try Page.fixture(storage) }
    #expect(error?.code == .noBase)
  }

  @Test func aFileThatGoesWhileItsHeaderIsPutTogetherIsNoTrap() throws {
    let journal = JournalFixture()
    journal.put("a")
    journal.mark(1, durableEnd: journal.end, closed: true)
    let storage = JournalFixture.storage(journal)
    storage.edit(journal.path) { $0[60] ^= 1 }
    let (looks, name, path) = (Noted(0), journal.name, journal.path)
    storage.watch { call in
      guard call.operation == .open, call.name == name else { return }
      looks.change { $0 += 1 }
      if looks.current == 2 { storage.delete(path) }
    }
    #expect(throws: LogStoreError.self) { try Page.fixture(storage, .readOnly) }
    #expect(looks.current >= 2)
  }
}
