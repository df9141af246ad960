import Glibc
import LogStore
import LogStoreTesting
import Testing

@testable import CrashHarness

/// After a failed sync nothing is promised, nothing is retried, and nothing that memory has is lost.
@Suite struct FailedSyncTests {
  private static func isJournal(_ name: String) -> Bool { name.hasSuffix(".journal") || name.hasSuffix(".journal.tmp") }

  @Test(arguments: Fault.Cache.allCases)
  func aFailedSyncPoisonsAndIsNeverRetriedOnThatFile(cache: Fault.Cache) throws {
    let storage = SimulatedStorage(seed: 1)
    let page = try Page.open(storage)
    try page.put("one", for: "a")
    let durable = page.durablePosition
    storage.fail(Fault(.sync, .failedSync(cache: cache)))
    let error = #expect(throws: LogStoreError.self) { try page.put("two", for: "b") }
    #expect(error?.code == .outcomeUnknown)
    #expect(error?.lsn == durable.lsn)
    storage.forgetCalls()
    // The fault is gone; the file still is not trusted.
    for _ in 0..<3 {
      #expect(throws: LogStoreError.self) { try page.put("three", for: "c") }
      #expect(throws: LogStoreError.self) { try page.put("three", for: "c", durability: .process) }
      #expect(throws: LogStoreError.self) { try page.sync() }
    }
    #expect(!storage.calls.contains { $0.operation == .sync || $0.operation == .write })
    #expect(page.durablePosition == durable)
    try page.recover()
    #expect(try page.keys() == ["a", "b"])
    #expect(!storage.calls.contains { $0.operation == .sync && $0.name == "0000000000.journal" })
    let later = storage.crash(.powerCut(.dropUnsynced))
    let again = try Page.open(later)
    #expect(try again.keys() == ["a", "b"])
    #expect(!again.report.hasDamage)
  }

  @Test(arguments: Fault.Cache.allCases)
  func whatWasHandedOverStaysReadableFromMemoryAlsoThroughOldViews(cache: Fault.Cache) throws {
    let storage = SimulatedStorage(seed: 2)
    let page = try Page.open(storage)
    try page.put("one", for: "a")
    try page.put("two", for: "b", durability: .process)
    let old = try page.view()
    try page.put(String(repeating: "x", count: 40_000), for: "long", durability: .process)
    storage.fail(Fault(.sync, .failedSync(cache: cache)))
    #expect(throws: LogStoreError.self) { try page.sync() }
    for view in [old, try page.view()] {
      #expect(try view.value(for: "a") == bytes("one"))
      #expect(try view.value(for: "b") == bytes("two"))
      #expect(try view.records().count == view.count)
    }
    let poisoned = try page.view()
    #expect(try poisoned.value(for: "long")?.count == 40_000)
    try page.recover()
    try page.put("three", for: "c")
    try page.compact(keep: Retention.none)
    // The first journal has been removed, and the views still read what memory has of it.
    #expect(try old.value(for: "b") == bytes("two"))
    #expect(try poisoned.value(for: "long")?.count == 40_000)
    #expect(try Page.open(storage.crash(.powerCut(.dropUnsynced))).keys() == ["a", "b", "long", "c"])
  }

  @Test func recoveringAgainAfterAFailedRecoveryCarriesTheSame() throws {
    for errno in [EIO, ENOSPC, EACCES] {
      for operation in [StorageError.Operation.list, .create, .write, .sync, .rename, .syncDirectory] {
        let storage = SimulatedStorage(seed: 3)
        let page = try Page.open(storage)
        try page.put("one", for: "a", durability: .process)
        storage.fail(Fault(.sync, .failedSync(cache: .old)))
        #expect(throws: LogStoreError.self) { try page.put("two", for: "b") }
        storage.fail(Fault(operation, .error(errno)))
        #expect(throws: LogStoreError.self, "\(operation) \(errno)") { try page.recover() }
        #expect(try page.keys() == ["a", "b"], "\(operation) \(errno)")
        try page.recover()
        try page.put("three", for: "c")
        #expect(try page.keys() == ["a", "b", "c"], "\(operation) \(errno)")
        let again = try Page.open(storage.crash(.powerCut(.dropUnsynced)))
        #expect(try again.keys() == ["a", "b", "c"], "\(operation) \(errno)")
      }
    }
  }

  @Test func neitherSyncNorCloseAnswersForWhatARecoveryCouldNotCarry() throws {
    for closes in [false, true] {
      let storage = SimulatedStorage(seed: 4)
      let page = try Page.open(storage)
      try page.put("one", for: "a", durability: .process)
      storage.fail(Fault(.sync, .failedSync(cache: .old)))
      #expect(throws: LogStoreError.self) { try page.sync() }
      storage.fail(Fault(.create, .error(ENOSPC), repeating: true))
      #expect(throws: LogStoreError.self) { try page.recover() }
      #expect(throws: LogStoreError.self) {
        if closes { try page.close() } else { try page.sync() }
      }
      storage.heal()
      guard !closes else { continue }
      try page.sync()
      #expect(try Page.open(storage.crash(.powerCut(.dropUnsynced))).keys() == ["a"])
    }
  }

  @Test func aPoisonedPageDoesNotCloseAsIfAllWereWell() throws {
    let storage = SimulatedStorage(seed: 5)
    let page = try Page.open(storage)
    try page.put("one", for: "a", durability: .process)
    storage.fail(Fault(.sync, .failedSync(cache: .new)))
    #expect(throws: LogStoreError.self) { try page.sync() }
    let error = #expect(throws: LogStoreError.self) { try page.close() }
    #expect(error?.code == .outcomeUnknown)
    // It has let go all the same.
    #expect(!storage.isLocked(pagePath))
    _ = try Page.open(storage)
  }

  @Test func aSyncBesideTheWritersThatFailsIsToldAndPoisons() throws {
    let storage = SimulatedStorage(seed: 6)
    let told = Shared<[LogStoreError.Code]>([])
    let turn = Turn()
    var options = quietOptions(storage)
    options.syncAfterBytes = 1
    options.onEvent = { event in
      guard case .poisoned(let error) = event else { return }
      told.change { $0.append(error.code) }
      turn.come()
    }
    let page = try Page(path: pagePath, options: options)
    storage.fail(Fault(.sync, .failedSync(cache: .old), repeating: true) { $0 == "0000000000.journal.tmp" })
    try page.put("one", for: "a", durability: .process)
    #expect(turn.wait(seconds: 10))
    #expect(told.current.contains(.outcomeUnknown))
    let error = #expect(throws: LogStoreError.self) { try page.put("two", for: "b", durability: .process) }
    #expect(error?.code == .outcomeUnknown)
    storage.heal()
    try page.recover()
    #expect(try page.value("a") == "one")
    #expect(try Page.open(storage.crash(.powerCut(.dropUnsynced))).keys() == ["a"])
  }

  @Test func aSyncThatFailedInAnEarlierProcessIsNotTakenForASuccess() throws {
    // Its pages are clean: a sync would succeed, and force nothing.
    let storage = SimulatedStorage(seed: 7)
    var page: Page? = try Page.open(storage)
    try page?.put("one", for: "a")
    storage.fail(Fault(.sync, .failedSync(cache: .new)))
    #expect(throws: LogStoreError.self) { try page?.put("two", for: "b") }
    page = nil
    let killed = storage.crash(.kill)
    let again = try Page.open(killed)
    let shown = try again.keys()
    try again.put("three", for: "c")
    #expect(try Page.open(killed.crash(.powerCut(.dropUnsynced))).keys() == shown + ["c"])
  }

  /// A directory sync that fails may leave a new journal's name in the cache alone, and the next one succeeds without it. Only
  /// the process knew that made it; the next would have put its own journal behind that one, and with it all that it was given.
  @Test(arguments: ["create", "recover", "compact"], Fault.Cache.allCases)
  func aJournalWhoseNameWasLostByAFailedDirectorySyncIsNotGoneOnFrom(what: String, cache: Fault.Cache) throws {
    let storage = SimulatedStorage(seed: 9)
    var page: Page?
    var expected = ["d"]
    if what == "create" {
      // The first sync of the directory is there to find out whether it can be synced.
      storage.fail(Fault(.syncDirectory, .failedSync(cache: cache), after: 1))
      #expect(throws: LogStoreError.self) { try Page.open(storage) }
    } else {
      page = try Page.open(storage)
      try page?.put("one", for: "a")
      try page?.put("two", for: "b", durability: .process)
      expected = ["a", "b", "d"]
      if what == "recover" {
        storage.fail(Fault(.sync, .failedSync(cache: .new)))
        #expect(throws: LogStoreError.self) { try page?.put("three", for: "c") }
        expected = ["a", "b", "c", "d"]
      }
      storage.fail(Fault(.syncDirectory, .failedSync(cache: cache)))
      #expect(throws: LogStoreError.self) {
        if what == "recover" { try page?.recover() } else { try page?.compact(keep: Retention.none) }
      }
    }
    page = nil
    let killed = storage.crash(.kill)
    let again = try Page.open(killed)
    try again.put("four", for: "d")
    // A compaction behind it leaves nothing that leads nowhere.
    let later = try Page.open(killed.crash(.powerCut(.dropUnsynced)))
    #expect(!later.report.hasDamage && !later.report.isIncomplete)
    #expect(try later.keys() == expected)
    try again.compact(keep: Retention.none)
    try again.put("five", for: "e")
    #expect(try Page.open(killed.crash(.powerCut(.dropUnsynced))).keys() == expected + ["e"])
  }

  @Test func whatAnOpeningShowsSurvivesAlsoWhereTwoProcessesBeforeItFailed() throws {
    // The first has its sync fail; the second carries what it left, and is killed at each call; the third only looks.
    for calls in 0..<12 {
      let storage = SimulatedStorage(seed: 8)
      let page = try Page.open(storage)
      try page.put("one", for: "a")
      storage.fail(Fault(.sync, .failedSync(cache: .new)))
      #expect(throws: LogStoreError.self) { try page.put("two", for: "b") }
      let second = storage.crash(.kill)
      second.cutPower(after: calls)
      do { _ = try Page.open(second) } catch {}
      let third = second.crash(.kill)
      let shown = try Page.open(third).keys()
      #expect(shown == ["a", "b"])
      for seed in 0..<6 {
        let crash = seed == 0 ? Crash.powerCut(.dropUnsynced) : .powerCut(.seeded(UInt64(seed)))
        #expect(try Page.open(third.crash(crash)).keys() == shown, "killed after \(calls) calls, then \(crash)")
      }
    }
  }
}
