import Glibc
import LogStore
import LogStoreTesting
import Testing

@testable import CrashHarness

/// A value that takes several frames is there whole or not at all, and its batch with it.
@Suite struct LargeValueTests {
  private static let value = (0..<700).map { UInt8(truncatingIfNeeded: $0 &* 7) }

  /// The engine divides what is longer than 64 MiB; here it divides at 64 bytes.
  private func batch() throws -> WriteBatch {
    try WriteBatch(
      [
        .put(bytes("before"), bytes("x")), .put(bytes("large"), LargeValueTests.value),
        .put(bytes("behind"), bytes("y")),
      ], partBytes: 64)
  }

  private func page(_ seed: UInt64) throws -> (SimulatedStorage, Page) {
    let storage = SimulatedStorage(seed: seed)
    let page = try Page.open(storage)
    try page.put("one", for: "a")
    return (storage, page)
  }

  private enum Sight: Hashable { case nothing, all, part, damage }

  /// What is there of the batch.
  private func shows(_ storage: SimulatedStorage) throws -> Sight {
    let page = try Page.open(storage)
    guard !page.report.hasDamage else { return .damage }
    let table = try page.table()
    if try page.keys() == ["a"] { return .nothing }
    guard try page.keys() == ["a", "before", "large", "behind"] else { return .part }
    return table.records[2].value == LargeValueTests.value ? .all : .part
  }

  @Test(arguments: [Durability.process, .power])
  func everyStateThatAPowerCutMayLeaveHasAllOfALargeValueOrNothing(durability: Durability) throws {
    let (storage, page) = try page(1)
    storage.recordMoments()
    try page.write(batch(), durability: durability)
    var seen: Set<Sight> = []
    let last = storage.moments.count - 1
    for moment in 0...last {
      for state in storage.crashStates(at: moment, extent: CrashExtent(exhaustive: 512, samples: 256)) {
        let sight = try shows(state.storage())
        #expect(sight == .nothing || sight == .all, "\(state.identity)")
        if durability == .power, moment == last { #expect(sight == .all, "\(state.identity)") }
        seen.insert(sight)
      }
    }
    #expect(seen == [.nothing, .all])
  }

  @Test func aJournalThatEndsInsideALargeValueHasNothingOfItsBatch() throws {
    let (storage, page) = try page(2)
    let journal = pagePath + "/0000000000.journal"
    try page.write(batch(), durability: .process)
    let whole = try #require(storage.contents(of: journal))
    let size = try batch().byteCount
    #expect(size > 700 + 10 * 9)
    for cut in 1...size {
      let left = storage.crash(.kill)
      left.edit(journal) { $0.removeLast(cut) }
      #expect(try shows(left) == .nothing, "\(cut) of \(whole.count)")
    }
    #expect(try shows(storage.crash(.kill)) == .all)
  }

  @Test func aLargeValueIsCarriedAndCompactedWhole() throws {
    let (storage, page) = try page(3)
    try page.write(batch(), durability: .process)
    // The next session carries it into a journal of its own, a compaction into a snapshot.
    let killed = storage.crash(.kill)
    let again = try Page.open(killed)
    try again.recover()
    killed.recordMoments()
    try again.compact(keep: Retention.none)
    for moment in killed.moments.indices {
      for crash in [Crash.kill, .powerCut(.dropUnsynced), .powerCut(.keepAll), .powerCut(.seeded(UInt64(moment)))] {
        #expect(try shows(killed.crash(crash, at: moment)) == .all, "moment \(moment), \(crash)")
      }
    }
  }

  /// The limit as it is shipped, on real files: two frames, which are cut shorter and shorter.
  /// A minute and a half without optimisation: for long runs, with `LOGSTORE_SEEDS`.
  @Test(.enabled(if: Seeds.areMany, "only where LOGSTORE_SEEDS is set"))
  func aValueLongerThanAFrameCanBeIsThereWholeOrNotAtAll() throws {
    let folder = TemporaryFolder()
    let path = folder.path + "/page"
    let size = Limits.payloadBytes + 1000
    let page = try Page(path: path)
    try page.put("one", for: "a")
    try page.put([UInt8](repeating: 3, count: size), for: "large")
    let journal = path + "/0000000000.journal"
    let end = try #require(TemporaryFolder.names(in: path) == ["0000000000.journal"] ? FileSize.of(journal) : nil)
    #expect(end > size)
    func open() throws -> PageView { try Page(path: path, mode: .readOnly).view() }
    let value = try #require(try open().value(for: "large"))
    #expect(
      value.count == size && value.prefix(1000).allSatisfy { $0 == 3 } && value.suffix(1000).allSatisfy { $0 == 3 })
    for cut in [1, 500, 1009, 1010, 1 << 20] {
      #expect(unsafe truncate(journal, off_t(end - cut)) == 0)
      #expect(try open().records().map(\.key) == [bytes("a")], "\(cut)")
    }
  }
}

private enum FileSize {
  static func of(_ path: String) -> Int? {
    var info = stat()
    return unsafe stat(path, &info) == 0 ? Int(info.st_size) : nil
  }
}
