import Glibc
import LogStore
import LogStoreTesting
import Testing

@testable import CrashHarness

/// Syncs for which no write waits, and looks at the page's files that fail.
@Suite struct SyncBesideTests {
  @Test func aSyncThatFailsInAWritersPlaceLeavesThePageReadableAndSaysSo() throws {
    let storage = SimulatedStorage(seed: 1)
    let poisoned = Shared(0)
    var options = quietOptions(storage)
    options.syncAfterBytes = 0
    // What would sync beside the writers never comes; each writer syncs.
    options.schedule = Schedule(start: { _ in }, pause: {})
    options.onEvent = { event in
      if case .poisoned = event { poisoned.change { $0 += 1 } }
    }
    let page = try Page(path: pagePath, options: options)
    storage.fail(Fault(.sync, .failedSync(cache: .old)))
    try page.put("one", for: "a", durability: .process)
    #expect(storage.faultHasFired)
    #expect(try page.value("a") == "one")
    let refused = #expect(throws: LogStoreError.self) { try page.put("two", for: "b", durability: .process) }
    #expect(refused?.code == .outcomeUnknown)
    try page.recover()
    #expect(try page.keys() == ["a"])
    try page.put("two", for: "b", durability: .power)
    #expect(try Page.open(storage.crash(.powerCut(.dropUnsynced)), .readOnly).keys() == ["a", "b"])
    try page.close()
    #expect(poisoned.current == 1)
  }

  /// What is in doubt stands behind the durable end until a new journal does: no later call may say that all is well.
  @Test func aRecoveryThatFailsIsOwedUntilOneSucceeds() throws {
    for goesOn in 0..<3 {
      let storage = SimulatedStorage(seed: 1)
      let page = try Page.open(storage)
      try page.put("one", for: "a")
      storage.fail(Fault(.write, .partThenError(1 << 20, EIO)))
      #expect(throws: LogStoreError.self) { try page.put("two", for: "b") }
      storage.fail(Fault(.create, .error(EIO), repeating: true))
      #expect(throws: LogStoreError.self) { try page.recover() }
      #expect(throws: LogStoreError.self) { try page.recover() }
      #expect(throws: LogStoreError.self) { try page.sync() }
      #expect(try page.keys() == ["a"])
      storage.heal()
      switch goesOn {
      case 0: try page.recover()
      case 1: try page.sync()
      default: try page.close()
      }
      #expect(try Page.open(storage.crash(.kill), .readOnly).keys() == ["a"])
    }
  }

  /// Nothing was written, and nothing is in doubt.
  @Test(arguments: [(EACCES, .unavailable), (EIO, .io)] as [(Int32, LogStoreError.Code)])
  func aLookAtTheFilesThatFailsRefusesOneWriteOnly(errno: Int32, code: LogStoreError.Code) throws {
    for durability in [Durability.process, .power] {
      let storage = SimulatedStorage(seed: 1)
      let page = try Page.open(storage)
      try page.put("one", for: "a")
      let before = storage.files(in: pagePath)
      storage.clock.advance(by: .seconds(1))
      storage.fail(Fault(.status, .error(errno)))
      let refused = #expect(throws: LogStoreError.self) { try page.put("two", for: "b", durability: durability) }
      #expect(refused?.code == code)
      #expect(storage.files(in: pagePath) == before)
      try page.put("three", for: "c", durability: durability)
      #expect(try page.keys() == ["a", "c"])
      storage.fail(Fault(.status, .error(errno)))
      #expect(throws: LogStoreError.self) { try page.sync() }
      try page.sync()
      #expect(try Page.open(storage.crash(.powerCut(.dropUnsynced)), .readOnly).keys() == ["a", "c"])
    }
  }
}
