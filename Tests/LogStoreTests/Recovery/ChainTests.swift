import LogStoreTesting
import Testing

@testable import LogStore

/// What stands among a page's files, and what the chain makes of it.
@Suite struct ChainTests {
  private let directory = JournalFixture.directory

  /// A page of two generations, both kept.
  private func page(_ seed: UInt64 = 1) throws -> SimulatedStorage {
    let storage = SimulatedStorage(seed: seed)
    let page = try Page.fixture(storage, .create)
    try page.put("v", for: "a")
    try page.compact(keep: .all)
    try page.put("v", for: "b")
    try page.compact(keep: .all)
    try page.put("v", for: "c")
    try page.close()
    return storage
  }

  @Test func aDirectoryInThePlaceOfASnapshotIsForeignAndStaysAsItIs() throws {
    let storage = try page()
    storage.delete(directory + "/0000000002.snapshot")
    storage.makeDirectory(directory + "/0000000002.snapshot")
    for mode in [OpenMode.readOnly, .readWrite] {
      let error = #expect(throws: LogStoreError.self) { try Page.fixture(storage, mode) }
      #expect(error?.code == .foreignFile)
      #expect(error?.path == directory + "/0000000002.snapshot")
    }
  }

  @Test func aDirectoryInThePlaceOfASnapshotsJournalIsForeign() throws {
    let storage = try page()
    storage.delete(directory + "/0000000002.journal")
    storage.makeDirectory(directory + "/0000000002.journal")
    for mode in [OpenMode.readOnly, .readWrite] {
      let error = #expect(throws: LogStoreError.self) { try Page.fixture(storage, mode) }
      #expect(error?.code == .foreignFile)
      #expect(error?.path == directory + "/0000000002.journal")
    }
  }

  @Test(arguments: ["journal", "snapshot"]) func aDirectoryWithAHigherNumberIsAStranger(kind: String) throws {
    let storage = try page()
    storage.makeDirectory(directory + "/0000000003." + kind)
    let page = try Page.fixture(storage, .readOnly)
    #expect(try page.keys() == ["a", "b", "c"])
    #expect(page.report.findings.contains { $0.kind == .stranger && $0.file == "0000000003." + kind })
    #expect(!page.report.isIncomplete)
  }

  @Test func aSnapshotOfAnotherPageAboveThisOnesIsAStranger() throws {
    let storage = try page()
    let other = try page(2)
    let third = try Page.fixture(other)
    try third.compact(keep: .all)
    try third.close()
    storage.place(
      try #require(other.contents(of: directory + "/0000000003.snapshot")), at: directory + "/0000000003.snapshot")
    let page = try Page.fixture(storage, .readOnly)
    #expect(try page.keys() == ["a", "b", "c"])
    let finding = try #require(page.report.findings.first { $0.kind == .stranger })
    #expect(finding.file == "0000000003.snapshot" && finding.severity == .note)
    #expect(!page.report.isIncomplete)
  }

  /// Its header is whole and that of another number, so that it cannot be read; it tells whose it is all the same.
  @Test(arguments: ["journal", "snapshot"])
  func anotherPagesFileUnderAWrongNumberAboveThisOnesIsAStranger(kind: String) throws {
    let storage = try page()
    let theirs = try #require(try page(2).contents(of: directory + "/0000000001." + kind))
    storage.place(theirs, at: directory + "/0000000007." + kind)
    let page = try Page.fixture(storage, .readOnly)
    #expect(try page.keys() == ["a", "b", "c"])
    #expect(page.report.findings.map(\.kind) == [.stranger])
    #expect(page.report.findings.first?.file == "0000000007." + kind && !page.report.isIncomplete)
  }

  /// The newest snapshot is that of another journal than the one beside it, and what that one follows is gone.
  @Test func aSnapshotThatIsNotItsJournalsIsCutOffWithIt() throws {
    let storage = try page()
    let path = directory + "/0000000002.snapshot"
    let files = try PageFiles(storage.openDirectory(directory, create: false), cacheBytes: 0)
    var header = try #require(try files.look(atSnapshot: 2).file)
    header.journalSalt ^= 1
    let buffer = ByteBuffer()
    header.append(to: buffer)
    storage.edit(path) { $0.replaceSubrange(0..<128, with: buffer.lend(0..<buffer.count) { $0.array }) }
    storage.delete(directory + "/0000000001.journal")
    let page = try Page.fixture(storage, .readOnly)
    #expect(try page.keys() == ["a"])
    #expect(page.report.isIncomplete)
    let cutOff = page.report.findings.filter { $0.kind == .cutOff }.map(\.file)
    #expect(cutOff == ["0000000002.journal", "0000000002.snapshot"])
  }

  /// Of two journals behind a gap the second has a header that was put together: what it says of the first is no news.
  @Test func aRebuiltHeaderBehindAGapAddsNothingToWhatIsLost() throws {
    let first = JournalFixture()
    first.put("a")
    let third = JournalFixture(2, baseLSN: 2, after: .init(generation: 1, salt: 101, end: 141))
    third.put("c")
    let fourth = JournalFixture(3, baseLSN: 3, after: .init(generation: 2, salt: 102, end: third.end))
    fourth.mark(3, durableEnd: 128)
    fourth.put("d")
    let storage = JournalFixture.storage(first, third, fourth)
    storage.edit(fourth.path) { $0[60] ^= 1 }
    let page = try Page.fixture(storage)
    #expect(try page.keys() == ["a"])
    #expect(page.report.isIncomplete)
    try page.put("v", for: "z")
    try page.close()
    let again = try Page.fixture(storage, .readOnly)
    #expect(try again.keys() == ["a", "z"])
    let lost = again.report.findings.filter { $0.kind == .recordedLoss }.map(\.file)
    #expect(lost.sorted() == [PageFile.journal(1).name, third.name, fourth.name])
  }

  /// It is missing when the directory is listed, and its header cannot be read when it is there after all.
  @Test func aJournalThatComesWhileThePageIsOpenedIsReadAllTheSame() throws {
    let first = JournalFixture()
    first.mark(0, durableEnd: 128)
    first.put("a")
    let second = JournalFixture(1, baseLSN: 1, after: .init(generation: 0, salt: 100, end: first.end))
    second.put("b")
    let storage = JournalFixture.storage(second)
    var bytes = first.bytes
    bytes[60] ^= 1
    let (late, path, name) = (bytes, first.path, second.name)
    storage.watch { call in
      if call.operation == .open, call.name == name { storage.place(late, at: path) }
    }
    let page = try Page.fixture(storage, .readOnly)
    #expect(try page.keys() == ["a", "b"])
    #expect(page.report.findings.contains { $0.kind == .damagedHeader && $0.file == first.name })
  }

  /// It goes between failing to be read and being asked whose it is.
  @Test func aDamagedSnapshotThatGoesWhileThePageIsOpenedIsNoTrap() throws {
    let storage = try page()
    let (name, path, opened) = ("0000000002.snapshot", directory + "/0000000002.snapshot", Noted(0))
    storage.edit(path) { $0[20] ^= 1 }
    storage.watch { call in
      guard call.operation == .open, call.name == name else { return }
      opened.change { $0 += 1 }
      if opened.current == 2 { storage.delete(path) }
    }
    let page = try Page.fixture(storage, .readOnly)
    #expect(try page.keys() == ["a", "b", "c"])
    #expect(opened.current == 2)
  }

  /// Asked for a moment in front of a gap, the state is what stands in front of the gap, and no later one.
  @Test func aMomentInFrontOfAGapIsShownAsItWas() throws {
    let storage = try page()
    storage.delete(directory + "/0000000001.journal")
    var options = PageOptions()
    options.storage = storage
    for (lsn, keys) in [(UInt64(0), []), (1, ["a"])] {
      let past = try Page(path: directory, mode: .readOnly, options: options, at: .lsn(lsn))
      #expect(try past.keys() == keys)
      #expect(past.position.lsn == lsn)
    }
  }

  /// Two chains are tried that begin at the same damaged snapshot.
  @Test func whatStandsInTheWayOfEveryChainIsNamedOnce() throws {
    let storage = try page()
    storage.delete(directory + "/0000000000.journal")
    for generation in 1...2 { storage.edit(directory + "/000000000\(generation).snapshot") { $0[50] ^= 1 } }
    let error = #expect(throws: LogStoreError.self) { try Page.fixture(storage) }
    #expect(error?.code == .noBase)
    let message = error?.message ?? ""
    for name in ["0000000001.snapshot", "0000000002.snapshot", "0000000000.journal"] {
      #expect(message.components(of: name) == 1, "\(name) in \(message)")
    }
  }

  @Test func aSnapshotOfANewerVersionIsLeftAlone() throws {
    let storage = try page()
    storage.edit(directory + "/0000000002.snapshot") { bytes in
      bytes[8] = 2
      let sum = bytes.lend(0..<124) { Checksum.update(0, $0) }
      for byte in 0..<4 { bytes[124 + byte] = UInt8(truncatingIfNeeded: sum >> UInt32(8 * byte)) }
    }
    let error = #expect(throws: LogStoreError.self) { try Page.fixture(storage) }
    #expect(error?.code == .newerVersion)
  }

  /// The losses stand at the head of the snapshot; that they cannot be read is not that there are none.
  @Test func aReadErrorInTheRecordedLossesIsAnError() throws {
    let storage = try page()
    storage.edit(directory + "/0000000002.journal") { $0[140] ^= 1 }
    let page = try Page.fixture(storage)
    try page.compact(keep: Retention.none)
    try page.close()
    let losses = try Page.fixture(storage, .readOnly).report.findings.filter { $0.kind == .recordedLoss }
    #expect(losses.count == 1)
    storage.watch { call in
      if call.operation == .read, call.name.hasSuffix(".snapshot"), call.offset == 128 {
        storage.fail(Fault(.read, .error(5)) { $0.hasSuffix(".snapshot") })
      }
    }
    let error = #expect(throws: LogStoreError.self) { try Page.fixture(storage, .readOnly) }
    #expect(error?.code == .io)
  }
}

extension String {
  /// How often another string stands in this one.
  fileprivate func components(of other: String) -> Int {
    split(separator: other, omittingEmptySubsequences: false).count - 1
  }
}
