import LogStoreTesting
import Synchronization
import Testing

@testable import LogStore

/// Replay over damage of the kinds that chance rarely makes.
@Suite struct JournalWalkTests {
  /// Batches of three, and what is left of them when some of their frames are damaged.
  @Test(arguments: [
    // The first and the last frame of the second batch: the search goes on twice.
    (["b1", "b3"], ["a1", "a2", "a3", "c1", "c2", "c3"]),
    // All that stands behind the second batch's middle frame.
    (["b1", "b3", "c1", "c2", "c3"], ["a1", "a2", "a3"]),
    // The first of the last batch: only frames that continue it stand behind.
    (["c1"], ["a1", "a2", "a3", "b1", "b2", "b3"]),
  ])
  func wholeBatchesGoOnBehindDamage(damaged: [String], left: [String]) throws {
    let journal = JournalFixture()
    var places: [String: UInt64] = [:]
    for batch in ["a", "b", "c"] {
      for number in 1...3 {
        places["\(batch)\(number)"] = journal.put("\(batch)\(number)", first: number == 1, last: number == 3)
      }
    }
    // A second journal says that all of it was durable, and nothing more.
    let next = JournalFixture(1, baseLSN: 9, after: .init(generation: 0, salt: 100, end: journal.end))
    let storage = JournalFixture.storage(journal, next)
    storage.edit(journal.path) { bytes in for name in damaged { bytes[Int(places[name]!) + 12] ^= 1 } }
    let page = try Page.fixture(storage, .readOnly)
    #expect(try page.keys() == left)
    #expect(page.position.lsn == 9)
    #expect(page.report.findings.reduce(0) { $0 + ($1.lostOperations ?? 0) } == UInt64(9 - left.count))
  }

  /// A recorded loss that begins inside a batch: how many operations stand behind the damage cannot be counted.
  @Test func aLossInsideABatchMakesTheCountOfAnotherOneAnEstimate() throws {
    let journal = JournalFixture()
    let damaged = journal.put("a")
    let next = journal.put("b", last: false)
    let inside = journal.put("c", first: false)
    journal.put("d")
    journal.mark(4, durableEnd: journal.end)
    let successor = JournalFixture(1, baseLSN: 4, after: .init(generation: 0, salt: 100, end: journal.end))
    successor.loss(journal.loss(of: inside..<inside + 9, lsn: 3, count: 1))
    let storage = JournalFixture.storage(journal, successor)
    storage.edit(journal.path) { $0[Int(damaged) + 12] ^= 1 }
    let page = try Page.fixture(storage, .readOnly)
    let finding = try #require(page.report.findings.first { $0.kind == .damagedFrame })
    #expect(finding.lostOperations == (next - damaged) / 9)
  }

  /// A cut through a frame leaves less than the smallest frame on either side of it: the operation counts all the same.
  @Test(arguments: 1..<14)
  func anOperationWhoseFrameIsCutInTwoIsOnRecord(left: Int) throws {
    let journal = JournalFixture()
    journal.put("a")
    let last = journal.put("b")
    let next = JournalFixture(1, baseLSN: 2, after: .init(generation: 0, salt: 100, end: journal.end))
    let storage = JournalFixture.storage(journal, next)
    let cut = min(Int(last) + left, Int(journal.end) - 1)
    storage.edit(journal.path) { $0.removeSubrange(cut...) }
    let page = try Page.fixture(storage)
    #expect(try page.keys() == ["a"])
    #expect(page.report.findings.filter { $0.kind == .damagedFrame }.allSatisfy { $0.lostOperations ?? 0 >= 1 })
    try page.put("v", for: "z")
    try page.close()
    let losses = try Page.fixture(storage, .readOnly).report.findings.filter {
      $0.kind == .recordedLoss && $0.file == "0000000000.journal"
    }
    #expect(losses.contains { $0.range?.lowerBound == UInt64(cut) && $0.lostOperations ?? 0 >= 1 }, "\(losses)")
  }

  /// Two damaged frames in front of one mark: what it says is lost of both, so that neither takes it all from the other.
  @Test func damageThatSharesAMarkIsNotSaidToHaveLostNothing() throws {
    let journal = JournalFixture()
    let places = ["a", "b", "c", "d"].map { journal.put($0) }
    journal.mark(4, durableEnd: journal.end)
    let next = JournalFixture(1, baseLSN: 4, after: .init(generation: 0, salt: 100, end: journal.end))
    let storage = JournalFixture.storage(journal, next)
    storage.edit(journal.path) { bytes in for place in [places[0], places[2]] { bytes[Int(place) + 12] ^= 1 } }
    let page = try Page.fixture(storage, .readOnly)
    #expect(try page.keys() == ["b", "d"])
    #expect(page.position.lsn == 4)
    let lost = page.report.findings.filter { $0.kind == .damagedFrame }.map { $0.lostOperations ?? 0 }
    #expect(lost.count == 2 && lost.allSatisfy { $0 >= 1 }, "\(lost)")
  }

  @Test func aClockThatRanBackwardsIsSaid() throws {
    let storage = SimulatedStorage(seed: 1)
    let page = try Page.fixture(storage, .create)
    for key in ["a", "b"] {
      try page.put("v", for: key)
      storage.clock.wall -= 3_600_000_000_000
      storage.clock.monotonic += 2_000_000_000
    }
    try page.close()
    let finding = try Page.fixture(storage).report.findings.first { $0.kind == .clock }
    #expect(finding?.severity == .note)
  }

  @Test func openingTellsHowFarItIsAndCanBeCancelled() throws {
    let storage = SimulatedStorage(seed: 1)
    let page = try Page.fixture(storage, .create)
    let value = [UInt8](repeating: 1, count: 5 << 20)
    try page.put(value, for: "a")
    try page.compact(keep: .all)
    try page.put(value, for: "b")
    try page.close()
    // Without the snapshot both journals are read.
    storage.delete(JournalFixture.directory + "/0000000001.snapshot")
    let before = storage.files(in: JournalFixture.directory)
    let seen = Noted<[Progress]>([])
    _ = try Page.fixture(storage, .readOnly) { options in
      options.onProgress = { made in
        seen.change { $0.append(made) }
        return true
      }
    }
    let made = seen.current
    #expect(made.count == 2 && made.allSatisfy { $0.phase == .replaying })
    #expect(made.map { $0.completedBytes >> 20 } == [5, 10] && made.allSatisfy { $0.totalBytes ?? 0 > 10 << 20 })
    for mode in [OpenMode.readOnly, .readWrite] {
      let error = #expect(throws: LogStoreError.self) {
        try Page.fixture(storage, mode) { $0.onProgress = { _ in false } }
      }
      #expect(error?.code == .cancelled)
      #expect(storage.files(in: JournalFixture.directory) == before)
    }
    #expect(try Page.fixture(storage).view().count == 2)
  }

  /// Stretch by stretch, a search comes to every frame, and to each once.
  @Test(arguments: [1, 7, 20, 64, 1000])
  func aSearchInStretchesFindsEveryFrame(candidates: Int) throws {
    let journal = JournalFixture()
    let places = (0..<5).map { journal.put("key \($0)", String(repeating: "v", count: 300 * $0)) }
    let file = MemoryFile(journal.name, journal.bytes)
    let search = CandidateSearch(
      file, seed: FrameCodec(salt: journal.header.salt).seed, limit: journal.end, candidates: candidates)
    var found: [UInt64] = []
    var from = UInt64(Limits.headerBytes)
    while let place = try search.first(from: from, upTo: journal.end) {
      found.append(place)
      from = place + 1
    }
    #expect(found == places)
    // From in front of what was searched last, and up to less than all.
    #expect(try search.first(from: places[1] + 1, upTo: places[4]) == places[2])
    #expect(try search.first(from: places[1] + 1, upTo: places[3] - 1) == nil)
  }

  /// The file has become shorter than its reader was told: what reaches over its end is none.
  @Test func aSearchEndsWhereTheFileDoes() throws {
    let journal = JournalFixture()
    let first = journal.put("a")
    let last = journal.put("b", String(repeating: "v", count: 5000))
    let file = MemoryFile(journal.name, Array(journal.bytes.dropLast(3000)))
    for (start, found) in [(first, first), (first + 1, nil), (last, nil)] {
      let search = CandidateSearch(file, seed: FrameCodec(salt: journal.header.salt).seed, limit: journal.end)
      #expect(try search.first(from: start, upTo: journal.end) == found)
    }
  }

  /// The length at the fault leads into the value of a whole frame, which holds frames of its own: a mark, and another one
  /// where the length leads. What is nearest in front of that place is where to go on.
  @Test func aLengthThatLeadsIntoAFrameGoesOnInFrontOfThere() throws {
    let journal = JournalFixture()
    let codec = FrameCodec(salt: journal.header.salt)
    let fault = journal.put("fault")
    let outer = journal.end
    let inside = outer + 9 + 2 + 1
    let value = ByteBuffer()
    Mark(lsn: 1, durableEnd: 128, time: 1, salt: journal.header.salt, isClosed: false)
      .append(to: value, offset: inside, codec: codec)
    let next = inside + UInt64(value.count)
    let frame = value.openFrame()
    JournalFixture.put("b", "v").withByteSpan { value.append($0) }
    value.sealFrame(frame, FrameType(.put), offset: next, codec: codec)
    journal.add(.put, [1, 0, 97] + value.lend(0..<value.count) { $0.array })
    journal.put("c")
    var bytes = journal.bytes
    bytes[Int(fault)] = UInt8(next - fault - 9)
    let reader = JournalReader(
      file: MemoryFile(journal.name, bytes), name: journal.name, path: journal.path, header: journal.header,
      limit: journal.end)
    #expect(try reader.frame(at: outer) != nil && reader.frame(at: next) != nil)
    #expect(try Resynchronizer(reader, limit: journal.end).resume(after: fault) == inside)
  }

  /// A journal names losses in front of everything else; one behind a mark is not among them.
  @Test func aLossBehindAMarkIsNotAtTheHead() throws {
    let journal = JournalFixture()
    let (first, second) = (
      LossRecord(generation: 7, salt: 7, start: 128, end: 140, lsn: 1, count: 1),
      LossRecord(generation: 8, salt: 8, start: 128, end: 140, lsn: 1, count: 1)
    )
    journal.loss(first)
    journal.mark(0, durableEnd: 128)
    journal.loss(second)
    journal.put("a")
    let file = MemoryFile(journal.name, journal.bytes)
    let opened = JournalFile(
      name: journal.name, path: journal.path, file: file, header: journal.header, status: try file.status())
    #expect(try opened.losses() == [first])
  }

  /// Without a chain the journal behind need not be the one that follows: where that begins says nothing of this one's end.
  @Test func aJournalBehindAGapDoesNotHideTheLossesInFrontOfIt() throws {
    let second = JournalFixture(1, baseLSN: 1, after: .init(generation: 0, salt: 100, end: 140))
    let place = UInt64(Limits.headerBytes + Limits.frameOverhead + LossRecord.payloadBytes)
    second.loss(second.loss(of: place..<place + 13, lsn: 1, count: 1))
    second.put("a")
    second.put("b")
    let fourth = JournalFixture(3, baseLSN: 9, after: .init(generation: 2, salt: 102, end: 128))
    fourth.put("c")
    let storage = JournalFixture.storage(second, fourth)
    var options = PageOptions()
    options.storage = storage
    _ = try PageInspector(path: JournalFixture.directory, storage: storage).salvage(to: "/copy", options: options)
    let copy = try Page(path: "/copy", mode: .readOnly, options: options)
    #expect(try copy.keys() == ["b", "c"])
  }

  @Test func whateverIsWrongWithAJournalMakesItIrregular() {
    func isRegular(_ change: (inout JournalOutcome) -> Void) -> Bool {
      var outcome = JournalOutcome()
      change(&outcome)
      return outcome.isRegular
    }
    #expect(isRegular { $0.isClosed = true })
    #expect(!isRegular { $0.tornTail = 128..<130 })
    #expect(!isRegular { $0.missing = 128..<130 })
    #expect(!isRegular { $0.dropped = [DroppedRange(range: 128..<130, fault: 128, lsn: 0, lost: 1, keys: [])] })
    #expect(!isRegular { $0.stoppedAtDamage = true })
  }

  /// Every second frame is bad, and claims a length that could be: all searches together read what a few would.
  @Test(arguments: [100, 30_000, 3_000_000])
  func aFileFullOfFaultsIsSearchedAsIfItHadFew(claimed: UInt32) throws {
    let journal = JournalFixture()
    var (faults, whole): ([UInt64], [UInt64]) = ([], [])
    for number in 0..<200 {
      faults.append(journal.put("bad \(number)", String(repeating: "v", count: 4000)))
      whole.append(journal.mark(UInt64(number), durableEnd: 128))
    }
    var bytes = journal.bytes
    for fault in faults {
      for shift in 0..<4 { bytes[Int(fault) + shift] = UInt8(truncatingIfNeeded: claimed >> (8 * UInt32(shift))) }
    }
    let file = CountingFile(MemoryFile(journal.name, bytes))
    let reader = JournalReader(
      file: file, name: journal.name, path: journal.path, header: journal.header, limit: journal.end)
    let resynchronizer = Resynchronizer(reader, limit: journal.end)
    var found: [UInt64] = []
    for fault in faults where try reader.frame(at: fault) == nil {
      if let next = try resynchronizer.resume(after: fault) { found.append(next) }
    }
    #expect(found == whole)
    #expect(file.read <= 3 * bytes.count)
    var walk = JournalWalk(reader)
    walk.isSealed = true
    var sink = BlindSink()
    try walk.run(&sink)
    #expect(walk.outcome.dropped.map(\.range.lowerBound) == faults)
    #expect(file.read <= 6 * bytes.count)
  }

  @Test func whoeverHasSeenEnoughOfTheFramesIsShownNoMore() throws {
    let journal = JournalFixture()
    for key in ["a", "b", "c"] { journal.put(key) }
    let storage = JournalFixture.storage(journal)
    var seen = 0
    try PageInspector(path: JournalFixture.directory, storage: storage).frames { _ in
      seen += 1
      return seen < 2
    }
    #expect(seen == 2)
  }
}

/// Counts the bytes that are read.
private final class CountingFile: StorageFile {
  private let file: MemoryFile
  private let count = Mutex(0)
  var read: Int { count.withLock { $0 } }

  init(_ file: MemoryFile) { self.file = file }

  func status() throws(StorageError) -> FileStatus { try file.status() }
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StorageError) -> Int {
    let read = try unsafe file.read(into: buffer, at: offset)
    count.withLock { $0 += read }
    return read
  }
  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StorageError) -> Int {
    try unsafe file.write(bytes, at: offset)
  }
  func sync(_ level: Durability) throws(StorageError) { try file.sync(level) }
  func dropCache() {}
  func willReadSequentially() {}
  func close() { file.close() }
}
