import LogStore
import LogStoreTesting
import Testing

@testable import CrashHarness

/// A damaged snapshot is served from the kept generation, and mended by a compaction; without one its records are errors.
@Suite struct HealTests {
  enum Part: CaseIterable { case record, orderTable, keyTable }

  private let count = 400
  private var truth: OrderedTable {
    OrderedTable((0..<count).map { Record(key: bytes("key \($0)"), value: bytes("value \($0) of the page")) })
  }

  /// A page whose newest snapshot is damaged in one part; the generation before it is kept, or not.
  private func page(_ part: Part, kept: Bool) throws -> (SimulatedStorage, String) {
    let storage = SimulatedStorage(seed: 1)
    let page = try Page.open(storage)
    for record in truth.records.prefix(300) { try page.put(record.value, for: record.key, durability: .process) }
    try page.compact()
    for record in truth.records.dropFirst(300) { try page.put(record.value, for: record.key, durability: .process) }
    try page.compact(keep: kept ? .previous : Retention.none)
    try page.close()
    let name = pagePath + "/0000000002.snapshot"
    storage.edit(name) { bytes in
      let places = SnapshotPlaces(bytes)
      // Somewhere inside, where it is not looked at by opening.
      switch part {
      case .record: bytes[places.records + 50] ^= 1
      case .orderTable: bytes[places.order + 100] ^= 1
      case .keyTable: for bucket in stride(from: places.keys + 40, to: places.footer, by: 1033) { bytes[bucket] ^= 1 }
      }
    }
    return (storage, name)
  }

  private func open(_ storage: SimulatedStorage, healed: Shared<Int>) throws -> Page {
    var options = quietOptions(storage)
    options.onEvent = { if case .healed = $0 { healed.change { $0 += 1 } } }
    return try Page(path: pagePath, mode: .readWrite, options: options)
  }

  @Test(arguments: Part.allCases)
  func everyWayOfReadingGoesAroundTheDamageAndTellsOnce(part: Part) throws {
    let (storage, _) = try page(part, kept: true)
    let healed = Shared(0)
    let page = try open(storage, healed: healed)
    #expect(try page.table() == truth)
    #expect(try page.view().value(for: "absent") == nil)
    // Closing waits until events have been handed over.
    try page.close()
    #expect(healed.current == 1)
  }

  /// So many blocks that some are inflated ahead of the sweep.
  @Test func aLongSweepOverBlocksGoesAroundTheDamage() throws {
    let storage = SimulatedStorage(seed: 1)
    var options = quietOptions(storage)
    options.compression = .deflate
    let records = (0..<20_000).map { number in
      Record(key: bytes("key \(number)"), value: bytes("value \(number) of \(UInt64(number) &* 0x9E37_79B9_7F4A_7C15)"))
    }
    let page = try Page(path: pagePath, mode: .create, options: options)
    for first in stride(from: 0, to: records.count, by: 1000) {
      var batch = WriteBatch()
      for record in records[first..<first + 1000] { try batch.put(record.value, for: record.key) }
      try page.write(batch, durability: .process)
    }
    try page.compact()
    try page.put(records[0].value, for: records[0].key, durability: .process)
    try page.compact()
    try page.close()
    storage.edit(pagePath + "/0000000002.snapshot") { bytes in
      let places = SnapshotPlaces(bytes)
      for part in 1..<9 { bytes[places.records + part * (places.order - places.records) / 9] ^= 1 }
    }
    let healed = Shared(0)
    let reopened = try open(storage, healed: healed)
    #expect(try reopened.view().records() == records)
    try reopened.close()
    #expect(healed.current > 0)
  }

  @Test(arguments: Part.allCases)
  func aCompactionMendsTheSnapshotFromTheKeptGeneration(part: Part) throws {
    let (storage, name) = try page(part, kept: true)
    #expect(try PageInspector(path: pagePath, storage: storage).verify().severity == .damage)
    let page = try open(storage, healed: Shared(0))
    #expect(try page.table() == truth)
    storage.clock.advance(by: .seconds(700))
    try page.compact(keep: Retention.none)
    try page.close()
    #expect(storage.contents(of: name) == nil)
    #expect(try PageInspector(path: pagePath, storage: storage).verify().findings.isEmpty)
    #expect(try Page.open(storage.crash(.powerCut(.dropUnsynced))).table() == truth)
  }

  @Test(arguments: Part.allCases)
  func aSalvageTakesFromTheKeptGenerationWhatTheSnapshotDoesNotGive(part: Part) throws {
    let (storage, _) = try page(part, kept: true)
    let report = try PageInspector(path: pagePath, storage: storage).salvage(to: "/new", options: quietOptions(storage))
    #expect(report.records == UInt64(count))
    #expect(report.findings.allSatisfy { $0.lostOperations == nil && $0.remedy.isEmpty })
    let new = try Page(path: "/new", options: quietOptions(storage))
    #expect(try new.table() == truth)
  }

  @Test(arguments: Part.allCases, [true, false])
  func verifyingNamesACommandThatHelps(part: Part, kept: Bool) throws {
    let (storage, name) = try page(part, kept: kept)
    let inspector = PageInspector(path: pagePath, storage: storage)
    let remedies = try Set(inspector.verify().findings.map(\.remedy))
    #expect(remedies == [kept || part == .keyTable ? "logctl compact PAGE" : "logctl salvage PAGE -o NEW"])
    guard kept else { return }
    let page = try open(storage, healed: Shared(0))
    try page.compact()
    // Within the time of grace the damaged file stands, and is no longer needed.
    #expect(storage.contents(of: name) != nil)
    #expect(
      try Set(inspector.verify().findings.filter { $0.severity == .damage }.map(\.remedy)) == [
        "logctl compact --keep none PAGE"
      ])
    try page.compact(keep: Retention.none)
    try page.close()
    #expect(try inspector.verify().findings.isEmpty)
  }

  enum OlderDamage: CaseIterable { case frame, header, end }

  /// What an older journal held is in the snapshot: nothing is lost, and it is the file that has to go.
  @Test(arguments: OlderDamage.allCases)
  func verifyingNamesWhatRemovesADamagedOlderJournal(damage: OlderDamage) throws {
    let storage = SimulatedStorage(seed: 1)
    let page = try Page.open(storage)
    for round in 0..<2 {
      for number in 0..<5 { try page.put("value", for: "\(round).\(number)") }
      try page.compact(keep: Retention.all)
    }
    let names = ["0000000000.journal", "0000000001.journal"]
    for name in names {
      storage.edit(pagePath + "/" + name) { bytes in
        switch damage {
        case .frame: bytes[FramePlace.all(in: bytes).filter { $0.kind == 1 }[1].offset + 12] ^= 1
        case .header: bytes[70] ^= 1
        case .end: bytes.removeLast(20)
        }
      }
    }
    let inspector = PageInspector(path: pagePath, storage: storage)
    let report = try inspector.verify()
    #expect(!report.recovery.hasDamage)
    let found = report.findings.filter { $0.severity == .damage }
    #expect(Set(found.map(\.file)) == Set(names), "\(found)")
    for finding in found {
      #expect(finding.lostOperations == nil && finding.remedy == "logctl compact --keep none PAGE", "\(finding)")
      #expect(finding.detail.hasSuffix("; the present state does not need it"), "\(finding)")
    }
    try page.compact(keep: Retention.none)
    try page.close()
    #expect(try inspector.verify().findings.filter { $0.severity == .damage }.isEmpty)
    #expect(try Page.open(storage, .readOnly).view().count == 10)
  }

  /// What a damaged snapshot lacks stands in what is older: that is not called unneeded, nor is its removal advised.
  @Test func verifyingDoesNotAdviseRemovingWhatADamagedSnapshotIsMendedFrom() throws {
    let (storage, _) = try page(.record, kept: true)
    storage.edit(pagePath + "/0000000001.journal") { bytes in
      bytes[FramePlace.all(in: bytes).filter { $0.kind == 1 }[1].offset + 12] ^= 1
    }
    let found = try PageInspector(path: pagePath, storage: storage).verify().findings.filter { $0.severity == .damage }
    #expect(Set(found.map(\.file)) == ["0000000001.journal", "0000000002.snapshot"], "\(found)")
    for finding in found {
      #expect(!finding.detail.contains("does not need it") && !finding.remedy.contains("--keep none"), "\(finding)")
    }
  }

  @Test(arguments: Part.allCases)
  func withoutAKeptGenerationWhatIsDamagedIsAnErrorAndNeverAbsent(part: Part) throws {
    let (storage, name) = try page(part, kept: false)
    let before = storage.contents(of: name)
    let page = try Page.open(storage)
    let view = try page.view()
    var errors = 0
    for record in truth.records {
      do {
        let value = try view.value(for: record.key)
        #expect(value == record.value)
      } catch {
        #expect(error.code == .damaged)
        errors += 1
      }
    }
    #expect(view.count == count)
    guard part != .keyTable else {
      // The records verify by themselves: they are searched, and a compaction makes a new table.
      #expect(errors == 0)
      try page.put("more", for: "more")
      #expect(try page.value("more") == "more")
      try page.compact(keep: Retention.none)
      #expect(
        try PageInspector(path: pagePath, storage: storage).verify().findings.allSatisfy {
          $0.severity == .note || $0.kind == .notClosed
        })
      return
    }
    #expect(errors > 0)
    // A compaction that cannot read a record leaves everything as it is.
    #expect(throws: LogStoreError.self) { try page.compact(keep: Retention.none) }
    #expect(storage.contents(of: name) == before)
    #expect(!storage.names(in: pagePath).contains { $0.hasSuffix(".tmp") || $0 == "0000000003.snapshot" })
    try page.put("more", for: "more")
    #expect(try page.value("more") == "more")
  }

  @Test(arguments: [0, 20, 127, -1, -30, -64])
  func aSnapshotThatDoesNotOpenIsPassedOverForTheOneBefore(place: Int) throws {
    let (storage, name) = try page(.record, kept: true)
    storage.edit(name) { $0[place < 0 ? $0.count + place : place] ^= 0x10 }
    let page = try Page.open(storage)
    #expect(try page.table() == truth)
    #expect(page.report.findings.contains { $0.kind == .damagedSnapshot })
  }

  @Test func aSnapshotOfNoBytesIsPassedOverOrAnErrorAndNeverAnEmptyPage() throws {
    for kept in [true, false] {
      let (storage, name) = try page(.record, kept: kept)
      storage.edit(name) { $0 = [] }
      if kept {
        #expect(try Page.open(storage).table() == truth)
      } else {
        let before = storage.files(in: pagePath)
        for mode in [OpenMode.create, .readWrite, .readOnly] {
          let error = #expect(throws: LogStoreError.self) { try Page.open(storage, mode) }
          #expect(error?.code == .noBase)
        }
        #expect(storage.files(in: pagePath) == before)
      }
    }
  }

  // MARK: An application's own state

  /// A page of an application's state whose snapshot has rotted in the middle, with what was there.
  private func statePage(keep: Retention) throws -> (SimulatedStorage, OrderedTable) {
    let storage = SimulatedStorage(seed: 1)
    let page = try StatePage<Chronicle>(path: pagePath, options: quietOptions(storage))
    for number in 0..<20 {
      try page.write(Chronicle.batch([.put(bytes("k\(number)"), bytes("one")), .remove(bytes("k\(number - 3)"))]))
    }
    try page.compact(keep: keep)
    try page.write(Chronicle.batch([.put(bytes("k20"), bytes("two"))]))
    let truth = try page.state().table
    try page.close()
    let name = try #require(storage.names(in: pagePath).last { $0.hasSuffix(".snapshot") })
    storage.edit(pagePath + "/" + name) { bytes in bytes[SnapshotPlaces(bytes).records + 40] ^= 1 }
    return (storage, truth)
  }

  @Test(arguments: [RecoveryPolicy.salvage, .pointInTime, .strict])
  func anApplicationsStateIsMadeGoodFromTheKeptGeneration(policy: RecoveryPolicy) throws {
    let (storage, truth) = try statePage(keep: .previous)
    let healed = Shared(0)
    var options = quietOptions(storage)
    options.policy = policy
    options.onEvent = { if case .healed = $0 { healed.change { $0 += 1 } } }
    let reader = try StatePage<Chronicle>(path: pagePath, mode: .readOnly, options: options)
    #expect(try reader.state().table == truth)
    #expect(!reader.report.hasDamage)
    let page = try StatePage<Chronicle>(path: pagePath, mode: .readWrite, options: options)
    #expect(try page.state().table == truth)
    // It can be gone on with, and mended.
    try page.write(Chronicle.batch([.remove(bytes("k19"))]))
    storage.clock.advance(by: .seconds(700))
    try page.compact(keep: Retention.none)
    try page.close()
    #expect(healed.current >= 1)
    var later = truth
    later.apply(.remove(bytes("k19")))
    let last = try StatePage<Chronicle>(path: pagePath, options: quietOptions(storage.crash(.powerCut(.dropUnsynced))))
    #expect(try last.state().table == later)
    #expect(try PageInspector(path: pagePath, storage: storage).verify().findings.isEmpty)
  }

  /// What a salvage copies is what opening shows, and it says what it had to go around.
  @Test func aSalvageOfAnApplicationsStateGoesAroundItsSnapshot() throws {
    let (storage, truth) = try statePage(keep: .previous)
    let report = try PageInspector(path: pagePath, storage: storage).salvage(
      to: "/copy", options: quietOptions(storage))
    #expect(report.findings.contains { $0.kind == .damagedSnapshot && $0.severity == .damage })
    let copy = try StatePage<Chronicle>(path: "/copy", mode: .readOnly, options: quietOptions(storage))
    #expect(try copy.state().table == truth)
  }

  @Test func anApplicationsStateOfWhichNothingWasKeptIsAnError() throws {
    let (storage, _) = try statePage(keep: Retention.none)
    let error = #expect(throws: LogStoreError.self) {
      try StatePage<Chronicle>(path: pagePath, mode: .readOnly, options: quietOptions(storage))
    }
    #expect(error?.code == .damaged)
    let report = try PageInspector(path: pagePath, storage: storage).salvage(
      to: "/copy", options: quietOptions(storage))
    #expect(report.findings.contains { $0.kind == .damagedSnapshot })
  }

  /// That the kept generation is not let be read now says nothing of whether it is there.
  @Test func aKeptGenerationThatIsRefusedIsNoDamageOfAnApplicationsState() throws {
    let (storage, truth) = try statePage(keep: .previous)
    storage.fail(Fault(.open, .error(13), repeating: true, concerns: { $0.hasSuffix("0000000000.journal") }))
    let error = #expect(throws: LogStoreError.self) {
      try StatePage<Chronicle>(path: pagePath, mode: .readOnly, options: quietOptions(storage))
    }
    #expect(error?.code == .unavailable)
    storage.heal()
    let page = try StatePage<Chronicle>(path: pagePath, mode: .readOnly, options: quietOptions(storage))
    #expect(try page.state().table == truth)
  }
}
