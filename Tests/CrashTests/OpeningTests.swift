import Glibc
import LogStore
import LogStoreTesting
import Testing

@testable import CrashHarness

/// What opening refuses, and that it changes nothing then.
@Suite struct OpeningTests {
  private func refused(
    _ storage: SimulatedStorage, _ code: LogStoreError.Code, _ modes: [OpenMode] = [.create, .readWrite, .readOnly],
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let before = storage.files(in: pagePath)
    for mode in modes {
      let error = #expect(throws: LogStoreError.self, sourceLocation: sourceLocation) { try Page.open(storage, mode) }
      #expect(error?.code == code, "\(mode): \(error.map(\.description) ?? "")", sourceLocation: sourceLocation)
      #expect(storage.files(in: pagePath) == before, sourceLocation: sourceLocation)
    }
  }

  private func closedPage() throws -> SimulatedStorage {
    let storage = SimulatedStorage(seed: 1)
    let page = try Page.open(storage)
    try page.put("one", for: "a")
    try page.close()
    return storage
  }

  @Test func whatAnOpeningFoundIsDurableUnderTheSaltThatItStandsUnder() throws {
    let storage = SimulatedStorage(seed: 1)
    try Page.open(storage).put("one", for: "a")
    // Two journals, and none to append to yet.
    let killed = storage.crash(.kill)
    _ = try Page.open(killed)
    let page = try Page.open(killed.crash(.kill))
    #expect(page.durablePosition == page.position)
  }

  @Test func aFileOfAnotherProgramUnderAPagesNameIsForeignAndStaysAsItIs() {
    for name in ["0000000000.journal", "0000000003.snapshot"] {
      let storage = SimulatedStorage(seed: 1)
      storage.makeDirectory(pagePath)
      storage.place(
        bytes("SQLite format 3\0 and much more, long enough for a header of a hundred and some bytes")
          + [UInt8](repeating: 7, count: 4000), at: pagePath + "/" + name)
      refused(storage, .foreignFile)
    }
  }

  @Test func aDirectoryFullOfOtherFilesIsNoPage() {
    let storage = SimulatedStorage(seed: 1)
    storage.makeDirectory(pagePath)
    storage.place(bytes("hello"), at: pagePath + "/notes.txt")
    refused(storage, .foreignFile, [.create])
  }

  @Test func aFileInThePlaceOfAPageIsForeign() {
    let storage = SimulatedStorage(seed: 1)
    storage.place(bytes("hello"), at: pagePath)
    refused(storage, .foreignFile)
  }

  @Test func aPageThatIsNotThereIsNotMadeByWhoeverOnlyOpens() {
    let storage = SimulatedStorage(seed: 1)
    refused(storage, .notFound, [.readWrite, .readOnly])
    #expect(storage.names(in: "/").isEmpty)
    storage.makeDirectory(pagePath)
    refused(storage, .notFound, [.readWrite, .readOnly])
  }

  @Test func aNewerVersionIsLeftAlone() throws {
    let storage = try closedPage()
    storage.edit(pagePath + "/0000000000.journal") { bytes in
      bytes[8] = 2
      let checksum = crc32(bytes[..<124])
      for byte in 0..<4 { bytes[124 + byte] = UInt8(truncatingIfNeeded: checksum >> UInt32(8 * byte)) }
    }
    refused(storage, .newerVersion)
  }

  @Test func aJournalOfAnotherPageIsNotAppliedOverASnapshot() throws {
    // A restore that mixes two pages: the snapshot of one, the journal of the other.
    let (storage, other) = (try closedPage(), SimulatedStorage(seed: 99))
    for (disk, keep) in [(storage, Retention.none), (other, .none)] {
      let page = try Page.open(disk)
      try page.put("two", for: disk === storage ? "b" : "x")
      try page.compact(keep: keep)
      try page.put("three", for: disk === storage ? "c" : "y")
      try page.close()
    }
    let name = pagePath + "/0000000001.journal"
    storage.place(other.contents(of: name)!, at: name)
    let error = #expect(throws: LogStoreError.self) { try Page.open(storage, .readOnly) }
    #expect(error?.code == .noBase)
  }

  @Test func anOlderJournalInThePlaceOfANewerOneIsNotAppliedOverTheSnapshot() throws {
    let storage = SimulatedStorage(seed: 2)
    let page = try Page.open(storage)
    try page.put("one", for: "a")
    let copy = storage.crash(.kill)
    for disk in [copy, storage] {
      let page = disk === storage ? page : try Page.open(disk)
      try page.put(disk === storage ? "kept" : "stale", for: "b")
      try page.compact(keep: Retention.none)
      try page.put("late", for: disk === storage ? "c" : "d")
      try page.close()
    }
    // The same page, the same generation, another history.
    let name = pagePath + "/0000000001.journal"
    let stale = copy.names(in: pagePath).last { $0.hasSuffix(".journal") }!
    storage.place(copy.contents(of: pagePath + "/" + stale)!, at: name)
    do {
      #expect(try !Page.open(storage, .readOnly).keys().contains("d"))
    } catch let error as LogStoreError {
      #expect([.noBase, .damaged].contains(error.code))
    }
  }

  /// Two lives of one page, with the same numbers, the same LSNs and the same lengths, but not the same salts.
  private func lives() throws -> (SimulatedStorage, other: SimulatedStorage) {
    let start = SimulatedStorage(seed: 1)
    let page = try Page.open(start)
    try page.put("one", for: "a")
    let (storage, other) = (start.crash(.kill), start.crash(.kill))
    for disk in [storage, other] {
      // What is drawn at random is told apart by how much was drawn before.
      if disk === other { try Page(path: "/elsewhere", options: quietOptions(disk)).close() }
      let page = try Page.open(disk)
      try page.compact(keep: Retention.all)
      try page.put(disk === storage ? "kept" : "gone", for: "b")
      try page.compact(keep: Retention.all)
      try page.put("late", for: disk === storage ? "c" : "d")
      try page.close()
    }
    return (storage, other)
  }

  @Test func aJournalOfAnotherLifeIsNotFollowedThoughItsNumberFits() throws {
    let (storage, other) = try lives()
    let names = storage.names(in: pagePath).sorted()
    for name in names where name.hasSuffix(".snapshot") { storage.delete(pagePath + "/" + name) }
    // The journal in front of the newest.
    let name = pagePath + "/" + names.filter { $0.hasSuffix(".journal") }.dropLast().last!
    let stale = try #require(other.contents(of: name))
    #expect(stale != storage.contents(of: name) && stale.count == storage.contents(of: name)?.count)
    storage.place(stale, at: name)
    do {
      #expect(try !Page.open(storage, .readOnly).keys().contains("c"))
    } catch let error as LogStoreError {
      #expect([.noBase, .damaged].contains(error.code))
    }
  }

  @Test func aSnapshotOfAnotherLifeLeadsNowhereThoughItsNumberFits() throws {
    let (storage, other) = try lives()
    let name = pagePath + "/" + storage.names(in: pagePath).filter { $0.hasSuffix(".snapshot") }.max()!
    storage.place(try #require(other.contents(of: name)), at: name)
    let page = try Page.open(storage, .readOnly)
    #expect(try page.keys() == ["a", "b", "c"])
    #expect(try page.view().value(for: "b") == bytes("kept"))
  }

  /// What an earlier process has left in the system's cache is durable once an opening has shown it.
  enum SessionEnd: CaseIterable { case killed, closed, closeFailed, marked }

  @Test(arguments: [Durability.process, .ordered])
  func whatAnOpeningShowsOutlivesThePower(written: Durability) throws {
    for end in SessionEnd.allCases {
      let storage = SimulatedStorage(seed: 1)
      var options = quietOptions(storage)
      options.durability = written
      let page = try Page(path: pagePath, options: options)
      try page.put("one", for: "a", durability: .power)
      try page.put("two", for: "b")
      switch end {
      case .killed: break
      case .closed: try page.close()
      case .closeFailed:
        storage.fail(Fault(.sync, .failedSync(cache: .new)))
        #expect(throws: LogStoreError.self) { try page.close() }
      case .marked:
        try page.sync()
        try page.put("two", for: "b")
      }
      let killed = storage.crash(.kill)
      let again = try Page.open(killed)
      #expect(try again.keys() == ["a", "b"])
      let left = try Page.open(killed.crash(.powerCut(.dropUnsynced)))
      #expect(try left.keys() == ["a", "b"], "\(end)")
      #expect(!left.report.hasDamage)
      try again.put("three", for: "c", durability: .power)
      #expect(try Page.open(killed.crash(.powerCut(.dropUnsynced)), .readOnly).keys() == ["a", "b", "c"])
    }
  }

  @Test func anEmptyOrHeaderOnlyNextJournalIsNoCrashLoop() throws {
    for length in [0, 1, 127, 128] {
      let storage = try closedPage()
      let page = try Page.open(storage)
      try page.compact(keep: Retention.all)
      try page.put("two", for: "b")
      try page.close()
      let header = storage.contents(of: pagePath + "/0000000001.journal")!
      // A next generation that its name reached and its bytes did not.
      storage.place(Array(header.prefix(length)), at: pagePath + "/0000000002.journal")
      for _ in 0..<3 {
        do {
          let again = try Page.open(storage)
          #expect(try again.keys().contains("a"))
          try again.close()
        } catch let error as LogStoreError {
          #expect([.damaged, .foreignFile, .noBase].contains(error.code), "length \(length): \(error)")
        }
      }
    }
  }

  @Test func aHeaderOnlyJournalThatACompactionHadJustStartedIsGoneOnWith() throws {
    let storage = try closedPage()
    let page = try Page.open(storage)
    storage.recordMoments()
    try page.compact(keep: Retention.none)
    let moment = try #require(
      storage.moments.indices.first { storage.calls[storage.moments[$0] - 1].operation == .syncDirectory })
    let left = storage.crash(.powerCut(.dropUnsynced), at: moment)
    #expect(left.names(in: pagePath) == ["0000000000.journal", "0000000001.journal"])
    let again = try Page.open(left)
    #expect(try again.keys() == ["a"])
    try again.put("two", for: "b")
    #expect(try Page.open(left.crash(.powerCut(.dropUnsynced))).keys() == ["a", "b"])
  }

  @Test(arguments: [EACCES, EPERM, EROFS, EMFILE])
  func aSystemThatRefusesForNowIsUnavailableAndNeverDamagedOrEmpty(errno: Int32) throws {
    let whole = try closedPage()
    let page = try Page.open(whole)
    try page.compact()
    try page.put("two", for: "b")
    try page.close()
    for mode in [OpenMode.readWrite, .readOnly] {
      for place in 0..<40 {
        let storage = whole.crash(.kill)
        storage.fail(Fault(nil, .error(errno), after: place, repeating: true))
        let before = storage.files(in: pagePath)
        do {
          let again = try Page.open(storage, mode)
          guard storage.faultHasFired else { break }
          #expect(throws: LogStoreError.self) { try again.keys() }
        } catch {
          #expect(error.code == .unavailable, "\(mode), call \(place): \(error)")
        }
        #expect(storage.files(in: pagePath) == before)
        storage.heal()
        #expect(try Page.open(storage, mode).keys() == ["a", "b"])
      }
    }
  }

  @Test func aDiskThatOtherMachinesSeeIsRefusedUnlessItIsAllowed() throws {
    let storage = SimulatedStorage(seed: 3)
    storage.isLocal = false
    let error = #expect(throws: LogStoreError.self) { try Page.open(storage) }
    #expect(error?.code == .unsupported)
    var options = quietOptions(storage)
    options.allowsNetworkFileSystems = true
    try Page(path: pagePath, options: options).put("one", for: "a")
    #expect(try Page.open(storage, .readOnly).keys() == ["a"])
  }

  @Test func theFirstJournalOfAPageThatWasNeverFinishedIsStartedOver() throws {
    let storage = SimulatedStorage(seed: 4)
    storage.makeDirectory(pagePath)
    storage.place([1, 2, 3], at: pagePath + "/0000000000.journal.tmp")
    let page = try Page.open(storage)
    try page.put("one", for: "a")
    #expect(storage.names(in: pagePath) == ["0000000000.journal"])
  }
}

/// CRC-32 as in zlib, a bit at a time.
func crc32(_ bytes: some Sequence<UInt8>) -> UInt32 {
  var crc: UInt32 = ~0
  for byte in bytes {
    crc ^= UInt32(byte)
    for _ in 0..<8 { crc = crc & 1 == 1 ? (crc >> 1) ^ 0xEDB8_8320 : crc >> 1 }
  }
  return ~crc
}
