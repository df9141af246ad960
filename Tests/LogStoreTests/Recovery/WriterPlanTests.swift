import LogStoreTesting
import Testing

@testable import LogStore

/// How a writer goes on: where the predecessor ends, and what is carried on from behind its end.
@Suite struct WriterPlanTests {
  private let directory = JournalFixture.directory

  /// The header of the journal that opening for writing has started.
  private func started(_ storage: SimulatedStorage, _ generation: UInt64 = 1) throws -> JournalHeader {
    let bytes = try #require(storage.contents(of: directory + "/" + PageFile.journal(generation).name))
    return try #require(unsafe bytes.withUnsafeBytes { unsafe JournalHeader($0, generation: generation) })
  }

  private func expect(_ storage: SimulatedStorage, _ keys: [String]) throws {
    for disk in [storage, storage.crash(.powerCut(.dropUnsynced))] {
      let page = try Page.fixture(disk, .readOnly)
      #expect(try page.keys() == keys)
      #expect(page.position.lsn >= UInt64(keys.count))
    }
  }

  /// What a mark names need not be where a batch ends.
  @Test(arguments: 1...3) func aDurableEndInsideABatchMovesToItsBeginning(frame: Int) throws {
    let journal = JournalFixture()
    journal.put("a")
    let places = (0...3).map { journal.put("b\($0)", first: $0 == 0, last: $0 == 3) }
    journal.mark(5, durableEnd: places[frame])
    journal.put("c")
    let storage = JournalFixture.storage(journal)
    _ = try Page.fixture(storage)
    let header = try started(storage)
    #expect(header.predecessor?.end == places[0])
    #expect(header.baseLSN == 1)
    try expect(storage, ["a", "b0", "b1", "b2", "b3", "c"])
  }

  /// Between two faults and behind them, each a gap to be walked over.
  @Test func aDurableEndInsideABatchIsFoundBehindSeveralFaults() throws {
    let journal = JournalFixture()
    let first = journal.put("a")
    journal.put("b")
    let second = journal.put("c")
    let start = journal.put("d", last: false)
    let inside = journal.put("e", first: false)
    journal.mark(5, durableEnd: inside)
    let storage = JournalFixture.storage(journal)
    storage.edit(journal.path) { bytes in for place in [first, second] { bytes[Int(place) + 12] ^= 1 } }
    _ = try Page.fixture(storage)
    let header = try started(storage)
    #expect(header.predecessor?.end == start && header.baseLSN == 3)
    try expect(storage, ["b", "d", "e"])
  }

  /// A mark may give an LSN that is lower than what is carried has operations.
  @Test func whatAMarkMakesLessIsCarriedAllTheSame() throws {
    let journal = JournalFixture()
    journal.put("a")
    journal.put("b")
    journal.mark(0, durableEnd: 128)
    journal.put("c")
    let storage = JournalFixture.storage(journal)
    _ = try Page.fixture(storage)
    #expect(try started(storage).baseLSN == 0)
    try expect(storage, ["a", "b", "c"])
  }

  /// Damage in front of it is walked over, and so is what an earlier recovery has dropped.
  @Test(arguments: [false, true])
  func aDurableEndInsideABatchIsFoundBehindDamage(isRecorded: Bool) throws {
    let journal = JournalFixture()
    let place = UInt64(128 + (isRecorded ? 57 : 0))
    if isRecorded { journal.loss(journal.loss(of: place..<place + 14, lsn: 1, count: 1)) }
    let damaged = journal.put("a", "vv")
    #expect(damaged == place && journal.end == place + 14)
    let start = journal.put("b", last: false)
    let inside = journal.put("c", first: false)
    journal.mark(3, durableEnd: inside)
    journal.put("d")
    let storage = JournalFixture.storage(journal)
    storage.edit(journal.path) { $0[Int(damaged) + 12] ^= 1 }
    _ = try Page.fixture(storage)
    let header = try started(storage)
    #expect(header.predecessor?.end == start)
    #expect(header.baseLSN == 1)
    try expect(storage, ["b", "c", "d"])
    #expect(try Page.fixture(storage, .readOnly).report.findings.count { $0.kind == .recordedLoss } == 1)
  }

  /// The mark that names D stands behind damage that reaches over D: the gap stays a gap, and what stands behind it is
  /// carried on.
  @Test func aDurableEndInsideDamageEndsThePredecessorThere() throws {
    let journal = JournalFixture()
    journal.put("a")
    let damaged = journal.put("b")
    let end = journal.end
    let also = journal.put("c")
    journal.put("d")
    journal.mark(4, durableEnd: end)
    let storage = JournalFixture.storage(journal)
    storage.edit(journal.path) { bytes in for place in [damaged, also] { bytes[Int(place) + 12] ^= 1 } }
    _ = try Page.fixture(storage)
    let header = try started(storage)
    #expect(header.predecessor?.end == end)
    #expect(header.baseLSN == 3)
    try expect(storage, ["a", "d"])
    #expect(try Page.fixture(storage, .readOnly).position.lsn == 4)
  }

  /// The only file left in front of a gap is cut inside its header: a log from the beginning, and no loss off the record.
  @Test func behindAFirstJournalCutInsideItsHeaderTheLogBeginsAnew() throws {
    let first = JournalFixture()
    let second = JournalFixture(1, after: .init(generation: 0, salt: 100, end: 128))
    second.loss(LossRecord(generation: 0, salt: 100, start: 128, end: 140, lsn: 1, count: 1))
    second.put("a")
    let storage = JournalFixture.storage(first, second)
    storage.edit(first.path) { $0 = Array($0[..<50]) }
    let page = try Page.fixture(storage)
    #expect(page.report.isIncomplete)
    #expect(try page.keys() == [])
    try page.put("v", for: "b")
    try page.close()
    let again = try Page.fixture(storage)
    #expect(try again.keys() == ["b"])
    #expect(again.report.findings.contains { $0.kind == .recordedLoss && $0.range == 128..<140 })
  }

  @Test func aJournalThatWasReplacedWhileThePageWasOpenedIsNotWrittenTo() throws {
    let storage = SimulatedStorage(seed: 1)
    let page = try Page.fixture(storage, .create)
    try page.put("v", for: "a")
    try page.close()
    let path = directory + "/0000000000.journal"
    let bytes = try #require(storage.contents(of: path))
    let opened = Noted(0)
    storage.watch { call in
      guard call.operation == .open, call.name == "0000000000.journal" else { return }
      opened.change { $0 += 1 }
      if opened.current == 2 { storage.place(bytes, at: path) }
    }
    let error = #expect(throws: LogStoreError.self) { try Page.fixture(storage) }
    #expect(error?.code == .storeReplaced)
    #expect(storage.contents(of: path) == bytes)
    storage.watch(nil)
    #expect(try Page.fixture(storage).keys() == ["a"])
  }
}
