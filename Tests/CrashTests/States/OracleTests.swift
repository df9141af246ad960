import LogStore
import LogStoreTesting
import Testing

@testable import CrashHarness

/// The check of tier 0 finds fault with a page that has lost, kept or made up what it should not.
@Suite struct OracleTests {
  private let check = StateCheck(kind: .records)
  private let journal = pagePath + "/0000000000.journal"

  /// A page with three batches, the first two of them acknowledged: at `.power` and at `.process`.
  private func page() throws -> (SimulatedStorage, Ledger, ends: [Int]) {
    let storage = SimulatedStorage(seed: 1)
    let page = try Page.open(storage)
    var ledger = Ledger()
    var ends: [Int] = []
    for (key, durability) in [("a", Durability.power), ("b", .process), ("c", .process)] {
      let batch: [TableOperation] = [.put(bytes(key), bytes("value")), .put(bytes(key + "2"), bytes("more"))]
      ledger.begin(batch)
      try page.write(WriteBatch(batch), durability: durability)
      if key != "c" { ledger.acknowledge(durability) }
      ends.append(try #require(storage.contents(of: journal)).count)
    }
    return (storage.crash(.kill), ledger, ends)
  }

  private func problem(_ storage: SimulatedStorage, _ ledger: Ledger, _ crash: CrashKind) -> String? {
    check.problem(with: storage, [Expectation(ledger, exists: true)], crash, .full)
  }

  @Test func allThatWasWrittenMayBeThere() throws {
    let (storage, ledger, _) = try page()
    #expect(problem(storage, ledger, .killed) == nil)
  }

  @Test func whatWasHandedOverMustSurviveAKillAndMayGoWithThePower() throws {
    let (storage, ledger, ends) = try page()
    storage.edit(journal) { $0.removeSubrange(ends[0]...) }
    #expect(problem(storage.crash(.kill), ledger, .powerLost) == nil)
    #expect(problem(storage, ledger, .killed)?.contains("gone") == true)
  }

  @Test func whatWasOrderedMustSurviveWhereThatIsAFullSyncAndMayGoWithADrivesCache() {
    var ledger = Ledger()
    for (key, durability) in [("a", Durability.power), ("b", .ordered), ("c", .process)] {
      ledger.begin([.put(bytes(key), bytes("value"))])
      ledger.acknowledge(durability)
    }
    #expect(ledger.needed(after: .killed) == 3)
    #expect(ledger.needed(after: .powerLost) == 2)
    #expect(ledger.needed(after: .driveCacheLost) == 1)
    for profile in CrashProfile.allCases {
      #expect(ledger.needed(after: CrashKind(profile)) == (profile.orderedSyncsAreDurable ? 2 : 1))
    }
    // A failed sync takes nothing out of the cache that another has handed on.
    ledger.cacheLies = true
    #expect(ledger.needed(after: .killed) == 2)
    #expect(ledger.crashed(.driveCacheLost).needed(after: .killed) == 1)
    ledger.acknowledgeSync()
    #expect(ledger.needed(after: .driveCacheLost) == 3)
  }

  @Test func whatIsDurableMustBeThere() throws {
    let (storage, ledger, _) = try page()
    storage.edit(journal) { $0.removeSubrange(128...) }
    #expect(problem(storage, ledger, .powerLost) != nil)
  }

  @Test func aPageThatWasThereMayNotBeAbsent() throws {
    let (storage, _, _) = try page()
    storage.delete(pagePath)
    #expect(problem(storage, Ledger(), .powerLost)?.contains("notFound") == true)
    let absent = [Expectation(Ledger(), exists: false)]
    #expect(check.problem(with: storage, absent, .powerLost, .full) == nil)
  }

  @Test func whatACompactionLeavesBesideTheNewestGenerationIsTold() throws {
    let storage = try page().0
    try Page.open(storage).compact(keep: Retention.none)
    #expect(storage.untidiness(in: pagePath) == nil)
    let snapshot = try #require(storage.contents(of: pagePath + "/0000000002.snapshot"))
    for (name, isGap) in [
      ("0000000001.snapshot", false), ("0000000000.journal", false), ("0000000000.0000000000000000.quarantine", true),
    ] {
      storage.place(snapshot, at: pagePath + "/" + name)
      #expect(storage.untidiness(in: pagePath)?.contains(name) == true)
      #expect((storage.untidiness(in: pagePath, allowsGaps: true) == nil) == isGap)
      storage.delete(pagePath + "/" + name)
    }
    storage.place(snapshot, at: pagePath + "/0000000000.0000000000000080.quarantine")
    #expect(storage.untidiness(in: pagePath) == nil)
  }

  @Test func whatNobodyWroteMayNotBeThere() throws {
    let (storage, _, _) = try page()
    var other = Ledger()
    other.begin([.put(bytes("a"), bytes("value")), .put(bytes("a2"), bytes("less"))])
    #expect(problem(storage, other, .powerLost) != nil)
    #expect(problem(storage, Ledger(), .powerLost) != nil)
  }

  @Test func damageThatNoCrashCanMakeIsTold() throws {
    let (storage, ledger, _) = try page()
    // In front of what a mark says is durable.
    storage.edit(journal) { $0[200] ^= 1 }
    #expect(problem(storage, ledger, .powerLost) != nil)
  }

  @Test func readersThatSeeAnotherStateAreTold() throws {
    let (storage, ledger, _) = try page()
    let readers = try Readers(.records, storage, pagePath)
    #expect(readers.disagreement(with: 6, Fingerprint(ledger.present)) == nil)
    #expect(readers.disagreement(with: 5, Fingerprint(ledger.present)) != nil)
    #expect(readers.disagreement(with: 6, Fingerprint(ledger.base)) != nil)
    storage.delete(pagePath)
    #expect(try Readers(.records, storage, pagePath).disagreement(with: 0, Fingerprint()) == nil)
    #expect(try Readers(.records, storage, pagePath).disagreement(with: 1, Fingerprint()) != nil)
  }

  /// As where what is written in the place of a lost batch gets its position: LSN and records are such as are allowed.
  @Test func aPositionThatStandsForAnotherStateIsTold() throws {
    let storage = SimulatedStorage(seed: 1)
    let page = try Page.open(storage)
    var ledger = Ledger()
    let batch: [TableOperation] = [.put(bytes("a"), bytes("value"))]
    ledger.begin(batch)
    try page.write(WriteBatch(batch))
    ledger.acknowledgeSync()
    // The journal of a page that was closed is gone on with, and its positions with it.
    try page.close()
    let position = page.position
    for (print, isRight) in [(Fingerprint(ledger.present), true), (Fingerprint(ledger.base), false)] {
      var known = ledger
      #expect(known.give(position, showing: print) == nil)
      #expect((problem(storage.crash(.kill), known, .killed)?.contains("given before") ?? false) != isRight)
      let examined = CrashExaminer().examine(storage.crash(.kill), known, .kill)
      #expect(examined.contains { $0.contains("given before") } != isRight)
    }
    // Nor may what is written behind a recovery get a position that was given.
    var known = ledger
    #expect(known.give(Position(salt: position.salt, lsn: position.lsn + 1), showing: Fingerprint(ledger.base)) == nil)
    #expect(problem(storage.crash(.kill), known, .killed)?.contains("given before") == true)
    #expect(CrashExaminer().examine(storage.crash(.kill), known, .kill).contains { $0.contains("given before") })
  }

  @Test func positionsStayGivenThroughCrashesAndRecoveries() {
    var ledger = Ledger()
    let (first, second) = (Position(salt: 1, lsn: 1), Position(salt: 2, lsn: 1))
    ledger.begin([.put(bytes("a"), bytes("one"))])
    ledger.acknowledge(.process)
    #expect(ledger.give(first) == nil)
    #expect(ledger.give(first) == nil)
    ledger = ledger.crashed(.powerCut(.dropUnsynced))
    ledger.settle(OrderedTable(), lsn: 0)
    ledger.begin([.put(bytes("a"), bytes("two"))])
    #expect(ledger.give(first) != nil)
    #expect(ledger.give(second) == nil)
    // The same disk with another past is another state.
    let forgetful = Expectation(Ledger(), exists: true)
    var knowing = Ledger()
    _ = knowing.give(first)
    #expect(Expectation(knowing, exists: true).hash(after: .killed) != forgetful.hash(after: .killed))
  }

  @Test func statesAreCountedOnce() {
    let seen = DistinctStates()
    var random = SeededRandom(seed: 3)
    let hashes = (0..<20_000).map { _ in random.next() } + [0, .max]
    for hash in hashes { #expect(seen.insert(hash)) }
    for hash in hashes { #expect(!seen.insert(hash)) }
  }

  /// What was only looked at is examined when somebody asks for more, whoever came first; in the table's later sizes too.
  @Test func aStateIsAsDeepAsItWasEverAskedFor() {
    let seen = DistinctStates()
    var random = SeededRandom(seed: 4)
    // Two that have all bits in common but those that all of a shard share.
    let hashes = (0..<20_000).map { _ in random.next() } + [0, .max, 0 | 63 << 58, .max >> 6]
    for hash in hashes { #expect(seen.note(hash, depth: 1 + hash % 3) == .new) }
    for hash in hashes {
      let depth = 1 + hash % 3
      for less in 1...depth { #expect(seen.note(hash, depth: less) == .known) }
      #expect(seen.note(hash, depth: depth + 1) == .deeper)
      #expect(seen.note(hash, depth: depth + 1) == .known)
    }
  }
}
