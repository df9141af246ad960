import LogStoreTesting
import Testing

@testable import CrashHarness
@testable import LogStore

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
        nested: .init(starts: 12, limit: 24, deeper: 0)), seen: nil)
    explorer.follow = { depth, _ in depth == 1 ? next : nil }
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

  @Test func aSessionThatIsKilledBehindACloseMarkIsSaidNotToHaveClosed() throws {
    let storage = SimulatedStorage(seed: 1)
    let first = try Page.open(storage)
    try first.put("one", for: "a")
    try first.close()
    #expect(try Page.open(storage, .readOnly).report.findings.isEmpty)
    let second = try Page.open(storage)
    try second.put("two", for: "b", durability: .process)
    let killed = storage.crash(.kill)
    // It has gone on in the journal that was closed.
    #expect(killed.names(in: pagePath) == ["0000000000.journal"])
    let reader = try Page.open(killed, .readOnly)
    #expect(try reader.keys() == ["a", "b"])
    #expect(reader.report.findings.map(\.kind) == [.notClosed])
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

  /// What a session leaves that was not told that the sync of its close mark failed: one that only the cache has.
  private func leftWithAnUnsyncedCloseMark(seed: UInt64) throws -> SimulatedStorage {
    let storage = SimulatedStorage(seed: seed)
    let page = try Page.open(storage)
    try page.put("one", for: "a")
    storage.fail(Fault(.sync, .failedSync(cache: .new)))
    #expect(throws: LogStoreError.self) { try page.close() }
    return storage.crash(.kill)
  }

  /// What a session may do first on a closed page, all of it by way of another journal.
  enum FirstAct: CaseIterable {
    case compacting, compactingWithAFault, withoutRoomForItsMark, withAFailingSync, syncing, closing
  }

  @Test(arguments: FirstAct.allCases, RecoveryPolicy.allCases)
  func noJournalEndsBehindACloseMarkWhoseSyncFailed(act: FirstAct, policy: RecoveryPolicy) throws {
    let storage = try leftWithAnUnsyncedCloseMark(seed: 2)
    let page = try Page.open(storage)
    switch act {
    case .compacting: break
    case .compactingWithAFault:
      // The journal stands, the snapshot does not.
      storage.fail(Fault(.rename, .error(5), after: 1))
      #expect(throws: LogStoreError.self) { try page.compact(keep: .previous) }
    case .withoutRoomForItsMark:
      // The close mark itself is written in its place.
      storage.fail(Fault(.write, .error(28), after: 1))
      try page.put("two", for: "b")
    case .withAFailingSync:
      storage.fail(Fault(.sync, .failedSync(cache: .old)))
      #expect(throws: LogStoreError.self) { try page.put("two", for: "b") }
      try page.recover()
      try page.put("two", for: "b")
    case .syncing:
      // Says nothing about a page that is clean.
      try page.sync()
    case .closing:
      try page.close()
    }
    if act == .compacting || act == .syncing { try page.compact(keep: .previous) }
    let expected = act == .withoutRoomForItsMark || act == .withAFailingSync ? ["a", "b"] : ["a"]
    let last = try Page.open(storage.crash(.powerCut(.dropUnsynced)), policy: policy)
    #expect(try last.keys() == expected)
    #expect(!last.report.hasDamage, "\(last.report.findings)")
    // Nor has the kept generation a hole.
    let report = try PageInspector(path: pagePath, storage: storage.crash(.powerCut(.dropUnsynced))).verify()
    #expect(!report.findings.contains { $0.severity == .damage }, "\(report.findings)")
  }

  @Test func aClosedPageThatNobodyWritesToIsNotSyncedAgain() throws {
    let storage = SimulatedStorage(seed: 3)
    let first = try Page.open(storage)
    try first.put("one", for: "a")
    try first.close()
    let page = try Page.open(storage)
    storage.forgetCalls()
    try page.sync()
    try page.close()
    #expect(!storage.calls.contains { $0.operation == .sync || $0.operation == .write })
  }

  @Test func aCompactionThatCannotBeginLeavesTheClosedJournalAsItWas() throws {
    let storage = SimulatedStorage(seed: 4)
    let first = try Page.open(storage)
    try first.put("one", for: "a")
    try first.close()
    let page = try Page.open(storage)
    storage.fail(Fault(.create, .error(28)))
    #expect(throws: LogStoreError.self) { try page.compact() }
    // Another than its own place would be overwritten.
    try page.put("two", for: "b")
    #expect(storage.names(in: pagePath) == ["0000000000.journal"])
    let last = try Page.open(storage.crash(.powerCut(.dropUnsynced)))
    #expect(try last.keys() == ["a", "b"])
    #expect(!last.report.hasDamage)
  }

  @Test func aCloseMarkThatDoesNotNameAllInFrontOfItIsNotGoneOnBehind() throws {
    let storage = SimulatedStorage(seed: 5)
    let first = try Page.open(storage)
    try first.put("one", for: "a")
    let journal = pagePath + "/0000000000.journal"
    let end = UInt64(try #require(storage.contents(of: journal)).count)
    try first.close()
    let page = try Page.open(storage, .readOnly)
    // As from a writer that closes without a sync in front of its mark.
    let mark = Mark(lsn: 1, durableEnd: 128, time: 0, salt: page.position.salt, isClosed: true)
    let bytes = ByteBuffer(capacity: Mark.frameBytes)
    mark.append(to: bytes, offset: end, codec: FrameCodec(salt: page.position.salt))
    storage.edit(journal) { $0.replaceSubrange(Int(end)..., with: unsafe Array(bytes.bytes)) }
    let again = try Page.open(storage)
    try again.put("two", for: "b")
    #expect(storage.names(in: pagePath) == ["0000000000.journal", "0000000001.journal"])
    #expect(try again.keys() == ["a", "b"])
  }

  @Test(arguments: [
    "records absent 1 1:0 power p+a=3.5;0 failed-close new;0 compact previous;0 power p+b=3.6",
    "records absent 1 1:0 power p+a=3.5;0 failed-close new;0 full 42 p+b=3.6;0 power p+c=3.7",
    "records absent 1 1:0 power p+a=3.5;0 failed-close new;0 failed-sync new p+b=3.6;0 power p+c=3.7",
    "records absent 1 1:0 process p+a=3.5;0 failed-close new;0 failed-sync old p+b=3.6;0 compact none",
    "records compacted 1 1:0 power p+a=3.5;0 failed-close new;0 ordered p+b=3.6;0 compact none",
    "records compacted 1 1:0 power p+a=3.5;0 failed-close old;0 compact none;0 failed-close new;0 process p+c=3.7",
    "state compacted 1 1:0 power p+a=3.5;0 failed-close new;0 power p+b=3.6;0 suspend;0 resume;0 compact none",
  ]) func whatIsDoneToAPageWhoseCloseFailedKeepsAll(text: String) throws {
    let workload = try #require(Workload(text))
    var explorer = Explorer(Effort(extent: CrashExtent(exhaustive: 256, samples: 32)), seen: nil)
    let failure = explorer.explore(workload)
    #expect(failure == nil, "\(failure?.what ?? "") \(failure?.subject.description ?? "")")
    #expect(explorer.examination.counts.values.reduce(0) { $0 + $1.states } > 100)
  }
}
