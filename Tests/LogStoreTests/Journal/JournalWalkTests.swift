import LogStoreTesting
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
    var found: [UInt64] = []
    var from = UInt64(Limits.headerBytes)
    while from < journal.end {
      let stretch = try CandidateSearch(
        file, seed: FrameCodec(salt: journal.header.salt).seed, from: from, limit: journal.end, candidates: candidates)
      while let place = stretch.nextCandidate() { found.append(place) }
      #expect(stretch.end == min(from + UInt64(candidates), journal.end))
      from = stretch.end
    }
    #expect(found == places)
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
