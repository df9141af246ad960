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
    #expect(done == [.write, .sync, .write])
    // Opening alone writes nothing.
    try page.close()
    let files = storage.files(in: pagePath)
    try Page.open(storage).close()
    #expect(storage.files(in: pagePath) == files)
  }
}
