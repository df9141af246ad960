import Glibc
import LogStoreTesting
import Synchronization
import Testing

@testable import CrashHarness
@testable import LogStore

/// Compaction is killed, refused, cancelled, and goes on beside the writers.
@Suite struct CompactionFaultTests {
  private func page(_ seed: UInt64, records: Int = 60) throws -> (SimulatedStorage, Page) {
    let storage = SimulatedStorage(seed: seed)
    let page = try Page.open(storage)
    for number in 0..<records {
      try page.put(String(repeating: "v", count: 300), for: "key \(number)", durability: .process)
    }
    try page.sync()
    return (storage, page)
  }

  @Test func aCompactorKilledFiftyTimesLeavesNoLitter() throws {
    var (storage, page) = try page(1)
    for round in 0..<50 {
      storage.cutPower(after: round % 14)
      do { try page.compact() } catch {}
      let left = storage.crash(round % 2 == 0 ? .kill : .powerCut(.seeded(UInt64(round))))
      (storage, page) = (left, try Page.open(left))
      #expect(try page.view().count == 60, "round \(round)")
      #expect(!storage.names(in: pagePath).contains { $0.hasSuffix(".tmp") }, "round \(round)")
      storage.clock.advance(by: .seconds(700))
    }
    try page.compact(keep: Retention.none)
    #expect(storage.names(in: pagePath).count == 2)
  }

  @Test func theOldGenerationGoesOnlyWhenTheNewOneIsDurable() throws {
    // At every moment of a compaction that keeps nothing, whatever arrives of it, one whole generation is there.
    let (storage, page) = try page(2)
    storage.recordMoments()
    try page.compact(keep: Retention.none)
    for moment in storage.moments.indices {
      for crash in [Crash.kill, .powerCut(.dropUnsynced), .powerCut(.keepAll)] + (0..<8).map({ .powerCut(.seeded($0)) })
      {
        let again = try Page.open(storage.crash(crash, at: moment))
        #expect(try again.view().count == 60, "moment \(moment), \(crash)")
        #expect(!again.report.hasDamage, "moment \(moment), \(crash)")
      }
    }
  }

  @Test func aSnapshotThatTheMediumChangesIsNotInstalled() throws {
    let (storage, page) = try page(8)
    let before = storage.names(in: pagePath).filter { $0.hasSuffix(".snapshot") }
    storage.watch { call in
      guard call.operation == .sync, call.name.hasSuffix(".snapshot.tmp") else { return }
      storage.edit(pagePath + "/" + call.name) { $0[$0.count / 2] ^= 1 }
    }
    #expect(throws: LogStoreError.self) { try page.compact(keep: Retention.none) }
    storage.watch(nil)
    #expect(storage.names(in: pagePath).filter { $0.hasSuffix(".snapshot") } == before)
    #expect(!storage.names(in: pagePath).contains { $0.hasSuffix(".tmp") })
    #expect(try page.view().count == 60)
    try page.close()
    #expect(try Page.open(storage.crash(.powerCut(.dropUnsynced))).view().count == 60)
  }

  @Test func onlySnapshotsThatVerifyCountAsKept() throws {
    let (storage, page) = try page(9)
    for number in 0..<2 {
      try page.compact(keep: .all)
      try page.put("v", for: "more \(number)")
    }
    try page.close()
    let snapshots = storage.names(in: pagePath).filter { $0.hasSuffix(".snapshot") }
    #expect(snapshots.count == 2)
    storage.edit(pagePath + "/" + snapshots[1]) { $0[60] ^= 1 }
    storage.clock.advance(by: .seconds(700))
    // Mending the second must not cost the first, which it is mended from.
    try Page.open(storage).compact(keep: .previous)
    #expect(storage.contents(of: pagePath + "/" + snapshots[0]) != nil)
  }

  @Test func writersGoOnWhileACompactionStandsStill() throws {
    let (storage, page) = try page(3)
    let (inside, goOn) = (Turn(), Turn())
    let isArmed = Shared(true)
    storage.watch { call in
      guard call.operation == .write, call.name.hasSuffix(".snapshot.tmp"), isArmed.exchange(false) else { return }
      inside.come()
      _ = goOn.wait()
    }
    let result = Shared<String?>(nil)
    let done = onThread {
      do { try page.compact() } catch { result.change { $0 = "\(error)" } }
    }
    #expect(inside.wait())
    for number in 0..<50 { try page.put("during", for: "new \(number)") }
    #expect(try page.view().count == 110)
    try page.sync()
    let busy = #expect(throws: LogStoreError.self) { try page.compact() }
    #expect(busy?.code == .busy)
    // A crash now keeps everything.
    #expect(try Page.open(storage.crash(.powerCut(.dropUnsynced))).view().count == 110)
    goOn.come()
    #expect(done.wait())
    #expect(result.current == nil)
    #expect(try page.view().count == 110)
    #expect(try Page.open(storage.crash(.powerCut(.dropUnsynced))).view().count == 110)
  }

  @Test func aDirectoryThatRefusesNewFilesStopsCompactionWithOneEventAndNotTheWriters() throws {
    let storage = SimulatedStorage(seed: 4)
    let failures = Shared<[LogStoreError]>([])
    let turn = Turn()
    var options = quietOptions(storage)
    options.compaction = CompactionPolicy()
    options.compaction.minimumBytes = 2000
    options.onEvent = { event in
      guard case .compactionFailed(let error, _) = event else { return }
      failures.change { $0.append(error) }
      turn.come()
    }
    let page = try Page(path: pagePath, options: options)
    storage.fail(Fault([.create, .rename, .remove], .error(EACCES), repeating: true))
    for number in 0..<100 { try page.put(String(repeating: "v", count: 200), for: "key \(number)") }
    #expect(turn.wait())
    for number in 0..<200 { try page.put("more", for: "more \(number)") }
    #expect(failures.current.count == 1)
    #expect(failures.current.first?.code == .unavailable)
    storage.heal()
    #expect(try page.view().count == 300)
    #expect(try Page.open(storage.crash(.powerCut(.dropUnsynced))).view().count == 300)
    try page.close()
  }

  @Test func aCancelledCompactionLeavesThePageAsItWas() throws {
    let (storage, page) = try page(5)
    let error = #expect(throws: LogStoreError.self) { try page.compact { _ in false } }
    #expect(error?.code == .cancelled)
    #expect(!storage.names(in: pagePath).contains { $0.hasSuffix(".tmp") || $0.hasSuffix(".snapshot") })
    #expect(try page.view().count == 60)
    try page.compact()
    #expect(try page.view().count == 60)
  }

  @Test func closingAndSuspendingEndACompactionThatRuns() throws {
    for suspends in [true, false] {
      let (storage, page) = try page(6)
      let (inside, goOn) = (Turn(), Turn())
      let isArmed = Shared(true)
      storage.watch { call in
        guard call.operation == .write, call.name.hasSuffix(".snapshot.tmp"), isArmed.exchange(false) else { return }
        inside.come()
        _ = goOn.wait()
      }
      let code = Shared<LogStoreError.Code?>(nil)
      let done = onThread {
        do { try page.compact() } catch { code.change { $0 = (error as? LogStoreError)?.code } }
      }
      #expect(inside.wait())
      let ended = onThread {
        do { if suspends { try page.suspend() } else { try page.close() } } catch { code.change { $0 = .io } }
      }
      while page.core.compaction.withLock({ $0.waiting.isEmpty }) { usleep(100) }
      goOn.come()
      #expect(done.wait())
      #expect(ended.wait())
      #expect(code.current == .cancelled || code.current == .suspended || code.current == .closed)
      #expect(!storage.isLocked(pagePath))
      #expect(!storage.names(in: pagePath).contains { $0.hasSuffix(".tmp") })
      let again = try Page.open(storage)
      #expect(try again.view().count == 60)
    }
  }

  @Test func filesNeededInTheLastTenMinutesStayForSlowCopies() throws {
    let (storage, page) = try page(7)
    try page.compact(keep: .previous)
    let first = storage.names(in: pagePath)
    storage.clock.advance(by: .seconds(60))
    try page.compact(keep: .previous)
    #expect(Set(storage.names(in: pagePath)).isSuperset(of: first))
    storage.clock.advance(by: .seconds(700))
    try page.compact(keep: .previous)
    storage.clock.advance(by: .seconds(700))
    try page.compact(keep: .previous)
    #expect(!storage.names(in: pagePath).contains { first.contains($0) })
  }
}
