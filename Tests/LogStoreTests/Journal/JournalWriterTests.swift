import LogStoreTesting
import Testing

@testable import LogStore

/// The writer of a journal, driven by hand.
@Suite struct JournalWriterTests {
  private let storage = SimulatedStorage(seed: 1)

  private func writer() throws -> LogWriter {
    LogWriter(
      starting: JournalStart(predecessor: nil, baseLSN: 0), lsn: 0, id: JournalFixture.id, state: 0,
      directory: try storage.openDirectory(JournalFixture.directory, create: true), storage: storage, level: .power)
  }

  private func put(_ writer: LogWriter, _ key: String, _ level: Durability = .process, bytes: Int = 1) throws {
    var batch = WriteBatch()
    try batch.put([UInt8](repeating: 118, count: bytes), for: key)
    let result = try writer.commitAlone(batch.unsealed, level, in: writer.usableJournal())
    if case .unknown(let error) = result { throw error }
  }

  @Test func aPageWithoutAJournalStandsAtTheBeginning() throws {
    let writer = try writer()
    #expect(writer.position == Position(salt: 0, lsn: 0))
    try put(writer, "a")
    #expect(writer.position == Position(salt: try #require(writer.journal).header.salt, lsn: 1))
  }

  /// A sync beside the writers covered half of what is in memory; the next one fails.
  @Test func aRecoveryCarriesWhatWasNotDurableAndNothingElse() throws {
    let writer = try writer()
    try put(writer, "a")
    let (journal, end) = (try #require(writer.journal), writer.end)
    try put(writer, "b")
    try writer.sync(.power, of: journal, upTo: end, lsn: 1)
    storage.fail(Fault(.sync, .failedSync(cache: .old)))
    #expect(throws: LogStoreError.self) { try writer.syncAll() }
    // The cache shows old bytes; what is read comes from memory.
    let reader = journal.reader(limit: writer.end)
    let key = try reader.frame(at: end).map { unsafe Array($0.key) }
    #expect(key == [98])
    try writer.recover()
    let started = try #require(writer.journal)
    #expect(started.header.predecessor?.end == end && started.header.baseLSN == 1)
    #expect(writer.lsn == 2)
    #expect(try Page.fixture(storage.crash(.powerCut(.dropUnsynced))).keys() == ["a", "b"])
  }

  /// What is preserved is shown in its place; in front of it the file is read, and no further.
  @Test func aReadInFrontOfWhatIsPreservedEndsThere() throws {
    let file = PreservingFile(MemoryFile("file", [UInt8](0..<30)), path: "file")
    file.preserve([.init(offset: 10, bytes: [110, 111]), .init(offset: 20, bytes: [120])])
    #expect(try file.read(count: 30, at: 0) == Array(0..<10) + [110, 111] + Array(12..<20) + [120] + Array(21..<30))
    #expect(try file.read(count: 3, at: 11) == [111, 12, 13])
    #expect(try file.read(count: 9, at: 25) == [25, 26, 27, 28, 29])
  }

  /// On a disk that syncs in the order of writes, an ordered sync need not be made twice; and what asks for less than an
  /// order is never durable.
  @Test func anOrderedSyncOfWhatAnotherHasOrderedIsNone() throws {
    let writer = try writer()
    try put(writer, "a")
    let journal = try #require(writer.journal)
    func syncs(_ level: Durability, upTo end: UInt64) throws -> Int {
      storage.forgetCalls()
      try writer.sync(level, of: journal, upTo: end, lsn: writer.lsn)
      return storage.calls.count { $0.operation == .sync }
    }
    #expect(try syncs(.ordered, upTo: writer.end) == 1)
    #expect(try syncs(.ordered, upTo: writer.end) == 0)
    #expect(try syncs(.power, upTo: writer.end) == 1)
    #expect(writer.durable.end == writer.end)
    try put(writer, "b")
    #expect(try syncs(.ordered, upTo: writer.end) == 1)
    #expect(!writer.isFull(.process) && !writer.isFull(.ordered) && writer.isFull(.power))
  }

  /// The bytes of the mark went, while nobody wrote: nothing may be written behind the hole.
  @Test func aJournalThatHasLostItsCloseMarkIsNotGoneOnIn() throws {
    let page = try Page.fixture(storage, .create)
    try page.put("v", for: "a")
    try page.close()
    let again = try Page.fixture(storage)
    let path = JournalFixture.directory + "/0000000000.journal"
    storage.edit(path) { $0.removeLast(10) }
    let before = storage.files(in: JournalFixture.directory)
    let error = #expect(throws: LogStoreError.self) { try again.put("v", for: "b") }
    #expect(error?.code == .io && error?.path == path)
    #expect(storage.files(in: JournalFixture.directory) == before)
    #expect(try again.keys() == ["a"])
    #expect(try Page.fixture(storage.crash(.kill)).keys() == ["a"])
  }

  @Test func aSyncThatFailedBesideTheWritersStopsTheNextWrite() throws {
    let writer = try writer()
    try put(writer, "a")
    storage.fail(Fault(.sync, .failedSync(cache: .new)))
    let journal = try #require(writer.journal)
    #expect(throws: LogStoreError.self) { try writer.sync(.power, of: journal, upTo: writer.end, lsn: 1) }
    let error = #expect(throws: LogStoreError.self) { try put(writer, "b") }
    #expect(error?.code == .outcomeUnknown && writer.lsn == 1)
  }

  /// A recovery starts another journal while somebody syncs the old one: what comes of that concerns nobody.
  @Test(arguments: [false, true])
  func aSyncThatEndsWhenItsJournalHasBeenLeftSaysNothingAboutTheNext(fails: Bool) throws {
    let writer = try writer()
    try put(writer, "a")
    let journal = try #require(writer.journal)
    let isFirst = Noted(true)
    storage.watch { call in
      guard call.operation == .sync, isFirst.current else { return }
      isFirst.change { $0 = false }
      do { try writer.recover() } catch { Issue.record(error) }
    }
    if fails { storage.fail(Fault(.sync, .failedSync(cache: .old)) { $0.hasPrefix(journal.name) }) }
    try writer.sync(.power, of: journal, upTo: writer.end, lsn: 1)
    #expect(writer.journal?.generation == 1)
    try put(writer, "b", .power)
    #expect(try Page.fixture(storage.crash(.powerCut(.dropUnsynced))).keys() == ["a", "b"])
  }

  @Test func unusuallyLongGroupsLeaveNoMemoryBehind() throws {
    let tail = UnsyncedTail(offset: 128)
    var end: UInt64 = 128
    for _ in 0..<3 {
      let segment = tail.beginGroup(at: end, durableEnd: 128)
      _ = unsafe segment.bytes.extend(6 << 20)
      end = segment.end
    }
    #expect(tail.carried(from: 128).count == 3)
    // All of it becomes durable: only the one at hand is kept, and trimmed once it has been used for less.
    for _ in 0..<2 {
      let segment = tail.beginGroup(at: end, durableEnd: end)
      #expect(segment.bytes.count == 0 && tail.carried(from: end).isEmpty)
      _ = unsafe segment.bytes.extend(100)
      end = segment.end
    }
    #expect(tail.current.bytes.capacity <= 2 << 20)
  }

  @Test func aTailAtRestGivesItsBuffersBack() throws {
    let tail = UnsyncedTail(offset: 128)
    var end: UInt64 = 128
    func write(_ count: Int, durableEnd: UInt64) {
      for _ in 0..<count {
        let segment = tail.beginGroup(at: end, durableEnd: durableEnd)
        _ = unsafe segment.bytes.extend(1 << 20)
        end = segment.end
      }
    }
    write(8, durableEnd: 128)
    let synced = end
    write(1, durableEnd: 128)
    // While writers go on, what they needed is kept for them.
    write(1, durableEnd: synced)
    #expect(tail.memoryBytes > 8 << 20)
    #expect(tail.carried(from: synced).count == 2)
    // Not while something is only in memory …
    tail.rest(at: end, durableEnd: synced)
    #expect(tail.carried(from: synced).count == 2)
    _ = unsafe tail.beginGroup(at: end, durableEnd: synced).bytes.extend(1000)
    tail.rest(at: end + 1000, durableEnd: end)
    #expect(tail.carried(from: end).count == 1)
    end += 1000
    // … but once all is durable.
    tail.rest(at: end, durableEnd: end)
    #expect(tail.carried(from: synced).isEmpty)
    #expect(tail.memoryBytes <= 256 << 10)
  }

  @Test func syncingGivesTheMemoryOfWhatWasNotDurableBack() throws {
    let writer = try writer()
    for number in 0..<12 { try put(writer, "\(number)", bytes: 300_000) }
    #expect(writer.tail.memoryBytes > 3 << 20)
    try writer.syncAll()
    #expect(writer.tail.memoryBytes <= 256 << 10)
  }

  @Test func aCarriedTailOfSeveralMegabytesIsWhole() throws {
    let writer = try writer()
    for number in 0..<12 { try put(writer, "\(number)", bytes: 300_000 + number) }
    for crash in [Crash.kill, .powerCut(.keepAll)] {
      let left = storage.crash(crash)
      let page = try Page.fixture(left)
      try page.put("on", for: "on")
      let again = try Page.fixture(left.crash(.powerCut(.dropUnsynced)))
      #expect(try again.view().records().map(\.value.count) == (0..<12).map { 300_000 + $0 } + [2])
      #expect(!again.report.hasDamage)
    }
  }

  @Test func aBatchThatNoLongerVerifiesIsNotCarriedSilently() throws {
    let writer = try writer()
    for key in ["a", "b", "c"] { try put(writer, key) }
    let left = storage.crash(.powerCut(.keepAll))
    let path = JournalFixture.directory + "/0000000000.journal"
    let last = try #require(left.contents(of: path)).count - 1
    // It rots between being replayed and being carried on.
    left.watch { call in
      if call.operation == .create, call.name.hasSuffix(".tmp") { left.edit(path) { $0[last] ^= 1 } }
    }
    let error = #expect(throws: LogStoreError.self) { try Page.fixture(left) }
    #expect(error?.code == .io)
    #expect(left.names(in: JournalFixture.directory) == ["0000000000.journal"])
  }

  @Test func aTemporaryFileInTheWayOfANewJournalIsReplaced() throws {
    let page = try Page.fixture(storage, .create)
    try page.put("v", for: "a")
    storage.place([1, 2, 3], at: JournalFixture.directory + "/0000000001.journal.tmp")
    try page.compact(keep: Retention.none)
    #expect(try Page.fixture(storage.crash(.powerCut(.dropUnsynced))).keys() == ["a"])
  }

  @Test(arguments: ["9999999999.snapshot", "9999999999.journal"])
  func withoutAGenerationNumberLeftThePageIsAsItWas(name: String) throws {
    let page = try Page.fixture(storage, .create)
    try page.put("v", for: "a")
    storage.place([1, 2, 3], at: JournalFixture.directory + "/" + name)
    let before = storage.files(in: JournalFixture.directory)
    let error = #expect(throws: LogStoreError.self) { try page.compact() }
    #expect(error?.code == .tooLarge && error?.message.contains(name) == true)
    #expect(storage.files(in: JournalFixture.directory) == before)
    try page.put("v", for: "b")
    #expect(try page.keys() == ["a", "b"])
  }

  /// The write fails for want of room; what then fails as well decides that nobody can say what stands.
  @Test(arguments: [
    Fault(.status, .error(5), after: 1), Fault(.sync, .failedSync(cache: .old)), Fault(.write, .partThenError(9, 28)),
  ])
  func noRoomAndAnotherFaultIsAnUnknownOutcome(second: Fault) throws {
    let writer = try writer()
    try put(writer, "a", .power)
    try put(writer, "b")
    storage.fail(second)
    storage.fail(Fault(.write, .error(28)))
    let error = #expect(throws: LogStoreError.self) { try put(writer, "refused", .power) }
    #expect(error?.code == .outcomeUnknown)
    #expect(throws: LogStoreError.self) { try writer.checkUsable() }
    #expect(try Page.fixture(storage.crash(.powerCut(.dropUnsynced))).keys() == ["a"])
    storage.heal()
    try writer.recover()
    try put(writer, "c", .power)
    #expect(try Page.fixture(storage.crash(.powerCut(.dropUnsynced))).keys() == ["a", "b", "c"])
  }

  @Test func aMarkIsWrittenOnlyWhereThereIsSomethingToSay() throws {
    let writer = try writer()
    try put(writer, "a")
    let end = writer.end
    // Nothing more is durable than the group's own mark said.
    try writer.writeMark(closed: false)
    #expect(writer.end == end)
    try writer.syncAll()
    try writer.writeMark(closed: false)
    #expect(writer.end == end + UInt64(Mark.frameBytes))
    // A full disk has ended the journal, and the next one is still to come.
    storage.fail(Fault(.write, .error(28)))
    try put(writer, "refused")
    #expect(writer.journal == nil)
    try writer.writeMark(closed: false)
    #expect(writer.journal == nil && storage.names(in: JournalFixture.directory).count == 1)
  }
}
