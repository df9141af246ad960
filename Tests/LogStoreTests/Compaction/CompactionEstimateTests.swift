import LogStoreTesting
import Testing

@testable import LogStore

/// A dry run says what the compaction then does.
@Suite struct CompactionEstimateTests {
  private let storage = SimulatedStorage(seed: 1)
  private let directory = JournalFixture.directory

  @Test(arguments: [nil, Retention.none, .previous, .count(0), .count(1), .count(2), .all])
  func anEstimateNamesTheFilesAndComesNearTheSize(keep: Retention?) throws {
    let page = try Page.fixture(storage, .create)
    for round in 0..<4 {
      for number in 0..<50 { try page.put("value \(round)", for: "key \(number)", durability: .process) }
      try page.compact(keep: .all)
      storage.clock.advance(by: .seconds(700))
    }
    try page.put("last", for: "key")
    let estimate = try page.compactionEstimate(keep: keep)
    let before = storage.files(in: directory)
    #expect(try page.compactionEstimate(keep: keep) == estimate)
    #expect(storage.files(in: directory) == before)
    let done = try page.compact(keep: keep)
    #expect(estimate.generation == done.generation && estimate.lsn == done.lsn && estimate.records == 51)
    #expect(estimate.removedFiles == done.removedFiles && estimate.keptFiles == done.keptFiles)
    // The journal's close mark, and the tables' rounding.
    #expect(abs(Int(estimate.snapshotBytes) - Int(done.snapshotBytes)) < 2000)
    #expect(abs(Int(estimate.bytesAfter) - Int(done.bytesAfter)) < 2000)
    let snapshots = storage.names(in: directory).count { $0.hasSuffix(".snapshot") }
    let expected: [Retention?: Int] = [Retention.none: 1, .count(0): 1, .count(2): 3, .all: 5]
    #expect(snapshots == expected[keep] ?? 2)
  }

  @Test func anEstimateOverADamagedRecordIsAnError() throws {
    let page = try Page.fixture(storage, .create)
    try page.put("value", for: "key")
    try page.compact(keep: Retention.none)
    storage.edit(directory + "/0000000001.snapshot") { $0[140] ^= 1 }
    let error = #expect(throws: LogStoreError.self) { try page.compactionEstimate() }
    #expect(error?.code == .damaged)
    #expect(throws: LogStoreError.self) { try page.compact() }
  }

  /// One goes by itself between being looked at and being counted: it frees nothing.
  @Test func aFileThatGoesDuringAnEstimateIsNoFailure() throws {
    let page = try Page.fixture(storage, .create)
    try page.put("value", for: "key")
    let (name, looks, storage, directory) = ("0000000000.journal", Noted(0), storage, directory)
    func watch(_ last: Int) {
      looks.change { $0 = 0 }
      storage.watch { call in
        guard call.operation == .status, call.name == name else { return }
        looks.change { $0 += 1 }
        if looks.current == last { storage.delete(directory + "/" + name) }
      }
    }
    watch(.max)
    let whole = try page.compactionEstimate(keep: Retention.none)
    #expect(whole.removedFiles == [name])
    let size = try #require(storage.contents(of: directory + "/" + name)).count
    watch(looks.current)
    let estimate = try page.compactionEstimate(keep: Retention.none)
    #expect(estimate.removedFiles == [name])
    #expect(estimate.bytesAfter == whole.bytesAfter + UInt64(size))
  }

  @Test func aThresholdThatOverflowsIsNeverReached() {
    var policy = CompactionPolicy()
    policy.percentOfSnapshot = .max
    #expect(policy.limit(snapshotBytes: 3) == .max)
    #expect(!policy.isDue(bytes: 1 << 60, journals: 1, snapshotBytes: 3))
    #expect(policy.isDue(bytes: 0, journals: policy.journals, snapshotBytes: 3))
    policy.percentOfSnapshot = 50
    #expect(policy.limit(snapshotBytes: 100 << 20) == 50 << 20)
    #expect(policy.limit(snapshotBytes: 100) == policy.minimumBytes)
  }
}
