import LogStore
import LogStoreTesting
import Testing

@testable import CrashHarness

/// A closed journal is gone on with by one session only, whatever becomes of what it writes.
///
/// Found by crashes inside crashes: a session appended behind a close mark, and its batch was lost with the power. The file
/// looked closed again, the next session appended at the same place under the same salt, and the crash in that one exposed
/// what had once stood there: the batch that was gone came back.
@Suite struct ReopenedJournalTests {
  @Test(arguments: [
    "records compacted 1 1:0 process p+lost=4.7", "records compacted 1 1:0 failed-sync old p+lost=4.7",
    "records compacted 1 1:0 suspend;0 resume;0 process p+lost=4.7", "state compacted 1 1:0 process p+lost=4.7",
  ]) func whatASessionLostBehindACloseMarkStaysLost(text: String) throws {
    let first = try #require(Workload(text))
    var second = first
    second.steps = [Workload.Placed(0, .write([.put(bytes("new"), OperationText.value(4, tag: 6))], .power))]
    let next = second
    var explorer = Explorer(
      Effort(
        profiles: [.strict], extent: CrashExtent(exhaustive: 128, samples: 16),
        nested: .init(starts: 12, limit: 64, deeper: 0)), seen: nil)
    explorer.follow = { $0 == 1 ? next : nil }
    let failure = explorer.explore(first)
    #expect(failure == nil, "\(failure?.what ?? "") \(failure?.subject.description ?? "")")
    #expect(explorer.examination.counts.values.reduce(0) { $0 + $1.states } > 500)
  }

  @Test func theFirstWriteBehindACloseMarkComesAfterADurableMark() throws {
    let storage = SimulatedStorage(seed: 1)
    let first = try Page.open(storage)
    try first.put("one", for: "a")
    try first.close()
    let page = try Page.open(storage)
    storage.forgetCalls()
    try page.put("two", for: "b", durability: .process)
    let done = storage.calls.map(\.operation).filter { [.write, .sync].contains($0) }
    #expect(done == [.write, .write, .sync, .write])
    // Opening alone writes nothing.
    try page.close()
    let files = storage.files(in: pagePath)
    try Page.open(storage).close()
    #expect(storage.files(in: pagePath) == files)
  }

  /// Found by failing every call of sessions on an application's state, where replay stops in front of damage.
  @Test(arguments: [RecoveryPolicy.strict, .pointInTime, .salvage], [false, true])
  func whatStandsBehindACloseMarkWhoseSyncFailedIsNotBehindAHole(policy: RecoveryPolicy, atOpening: Bool) throws {
    let storage = SimulatedStorage(seed: 1)
    let first = try Page.open(storage)
    try first.put("one", for: "a")
    // That its mark did not get to the medium is told to the close, or, where that was killed, to an opening.
    if atOpening {
      storage.cutPower(after: 1)
    } else {
      storage.fail(Fault(.sync, .failedSync(cache: .new)))
    }
    #expect(throws: LogStoreError.self) { try first.close() }
    let killed = storage.crash(.kill)
    if atOpening {
      killed.fail(Fault(.sync, .failedSync(cache: .new)))
      #expect(throws: LogStoreError.self) { try Page.open(killed) }
    }
    let second = try Page.open(killed)
    try second.put("two", for: "b")
    // The close mark was seen, and gone on behind.
    #expect(killed.names(in: pagePath) == ["0000000000.journal"])
    let last = try Page.open(killed.crash(.powerCut(.dropUnsynced)), policy: policy)
    #expect(try last.keys() == ["a", "b"])
    #expect(!last.report.hasDamage)
  }
}
