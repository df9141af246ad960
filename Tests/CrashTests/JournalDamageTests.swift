import LogStore
import LogStoreTesting
import Testing

@testable import CrashHarness

/// Bytes that had been durable change: exact data or a report, never wrong data, never a silent loss.
@Suite struct JournalDamageTests {
  private let journal = pagePath + "/0000000000.journal"

  /// A page of `count` records, each a batch of its own, synced and closed.
  private func closedPage(_ count: Int, seed: UInt64 = 1) throws -> SimulatedStorage {
    let storage = SimulatedStorage(seed: seed)
    let page = try Page.open(storage)
    for number in 0..<count { try page.put("value \(number)", for: "key \(number)", durability: .process) }
    try page.close()
    return storage
  }

  private func operations(_ storage: SimulatedStorage) -> [FramePlace] {
    FramePlace.all(in: storage.contents(of: journal) ?? []).filter { $0.kind < 8 }
  }

  @Test func oneBitInTheMiddleCostsOneRecordAndStrictNamesIt() throws {
    let storage = try closedPage(10_000)
    let frame = operations(storage)[5000]
    storage.edit(journal) { $0[frame.offset + 12] ^= 4 }
    let before = storage.files(in: pagePath)
    let error = #expect(throws: LogStoreError.self) { try Page.open(storage, policy: .strict) }
    #expect(error?.code == .damaged)
    #expect(error?.path == journal)
    #expect(error?.offset == UInt64(frame.offset))
    #expect(storage.files(in: pagePath) == before)
    let page = try Page.open(storage)
    #expect(try page.view().count == 9_999)
    #expect(try page.value("key 5000") == nil)
    #expect(try page.value("key 5001") == "value 5001")
    #expect(page.position.lsn == 10_000)
    let finding = try #require(page.report.findings.first { $0.kind == .damagedFrame })
    #expect(finding.range == UInt64(frame.offset)..<UInt64(frame.end))
    #expect(finding.lsns == 5001...5001)
    #expect(finding.lostOperations == 1)
  }

  @Test func everyFrameThatIsDamagedCostsItsOwnBatchOnly() throws {
    let whole = try closedPage(12)
    for (number, frame) in operations(whole).enumerated() {
      for place in [frame.offset, frame.offset + 3, frame.offset + 5, frame.offset + 8, frame.end - 1] {
        let storage = whole.crash(.kill)
        storage.edit(journal) { $0[place] ^= 0x40 }
        let page = try Page.open(storage)
        #expect(
          try page.keys() == (0..<12).filter { $0 != number }.map { "key \($0)" }, "frame \(number), byte \(place)")
        #expect(page.report.hasDamage)
      }
    }
  }

  @Test func aFaultInAnOldJournalKeepsEveryLaterOne() throws {
    let storage = SimulatedStorage(seed: 2)
    for round in 0..<5 {
      // Never closed: each round goes on in a journal of its own.
      let page = try Page.open(storage)
      for number in 0..<4 { try page.put("v", for: "\(round).\(number)") }
    }
    let names = storage.names(in: pagePath)
    #expect(names.count == 5)
    storage.edit(pagePath + "/" + names[1]) { bytes in
      let frame = FramePlace.all(in: bytes).filter { $0.kind == 1 }[1]
      bytes[frame.offset + 10] ^= 1
    }
    let page = try Page.open(storage)
    #expect(try page.view().count == 19)
    #expect(try page.value("4.3") == "v")
    #expect(page.report.findings.count { $0.kind == .damagedFrame } == 1)
    #expect(Set(storage.names(in: pagePath)).isSuperset(of: names))
  }

  @Test(arguments: [0x7FFF_FFFF, 0xFFFF_FFFF, 0x8000_0000, 0x0400_0000] as [UInt32])
  func aLengthThatLiesAllocatesNothingAndCostsOneRecord(length: UInt32) throws {
    let whole = try closedPage(8)
    for frame in operations(whole) {
      let storage = whole.crash(.kill)
      storage.edit(journal) { bytes in
        for byte in 0..<4 { bytes[frame.offset + byte] = UInt8(truncatingIfNeeded: length >> (8 * UInt32(byte))) }
      }
      storage.forgetCalls()
      let inspector = PageInspector(path: pagePath, storage: storage)
      #expect(try inspector.verify().severity == .damage)
      #expect(try inspector.salvage(to: "/salvaged", options: quietOptions(storage)).records == 7)
      #expect(try Page.open(storage).view().count == 7)
      #expect(storage.calls.allSatisfy { ($0.count ?? 0) < 1 << 20 })
    }
  }

  @Test func everyBitFlipGivesExactDataOrAReport() throws {
    let whole = SimulatedStorage(seed: 3)
    let page = try Page.open(whole)
    var truth = OrderedTable()
    let batches: [[TableOperation]] = [
      [.put(bytes("a"), bytes("one"))], [.put(bytes("b"), bytes("two")), .put(bytes("c"), bytes("three"))],
      [.remove(bytes("a"))], [.putBefore(bytes("d"), bytes("b"), bytes("four"))], [.move(bytes("b"), bytes("c"))],
    ]
    for (number, batch) in batches.enumerated() {
      try page.write(WriteBatch(batch), durability: number == 2 ? .power : .process)
      truth.apply(batch)
      if number == 1 { try page.compact(keep: Retention.all) }
    }
    try page.close()
    var random = SeededRandom(seed: 9)
    for name in whole.names(in: pagePath) {
      for place in whole.contents(of: pagePath + "/" + name)!.indices {
        let bit = UInt8(1) << UInt8(random.next() % 8)
        let storage = whole.crash(.kill)
        storage.edit(pagePath + "/" + name) { $0[place] ^= bit }
        let said = "\(name), byte \(place), bit \(bit)"
        do {
          let again = try Page.open(storage, .readWrite)
          let shown = try again.table()
          if shown != truth {
            #expect(again.report.hasDamage, "\(said): \(shown.records.map(\.key)) without a word")
            #expect(shown.records.allSatisfy { record in batches.joined().contains { $0.puts(record) } }, "\(said)")
          }
        } catch let error as LogStoreError {
          #expect([.damaged, .noBase, .foreignFile, .newerVersion].contains(error.code), "\(said): \(error)")
        }
      }
    }
  }

  @Test func healthyPagesAreLeftAsTheyAre() throws {
    let storage = try closedPage(20)
    let before = storage.files(in: pagePath)
    try Page.open(storage).close()
    #expect(storage.files(in: pagePath) == before)
    let inspector = PageInspector(path: pagePath, storage: storage)
    #expect(try inspector.verify().findings.isEmpty)
    #expect(try Page.open(storage, .readOnly).view().count == 20)
    for policy in RecoveryPolicy.allCases {
      let page = try Page.open(storage, .readWrite, policy: policy)
      #expect(page.report.findings.isEmpty)
      try page.close()
    }
    #expect(storage.files(in: pagePath) == before)
  }

  @Test func pointInTimeStopsInFrontOfDamageAndGoesOnFromThere() throws {
    let storage = try closedPage(12)
    let frame = operations(storage)[5]
    storage.edit(journal) { $0[frame.offset + 12] ^= 4 }
    let page = try Page.open(storage, policy: .pointInTime)
    #expect(try page.keys() == (0..<5).map { "key \($0)" })
    #expect(page.report.hasDamage)
    try page.put("new", for: "new")
    let again = try Page.open(storage.crash(.powerCut(.dropUnsynced)))
    #expect(try again.keys() == (0..<5).map { "key \($0)" } + ["new"])
    #expect(again.position.lsn == 6)
  }

  /// All that the state stopped in front of is gone for good, not only the frame that is damaged.
  @Test func whatPointInTimeLeavesBehindDamageStaysOnRecord() throws {
    let storage = try closedPage(12)
    let frame = operations(storage)[5]
    storage.edit(journal) { $0[frame.offset + 12] ^= 4 }
    let end = storage.files(in: pagePath)["0000000000.journal"]?.count ?? 0
    let page = try Page.open(storage, policy: .pointInTime)
    try page.put("new", for: "new")
    let crashed = storage.crash(.powerCut(.dropUnsynced))
    let again = try Page.open(crashed)
    let lost = again.report.findings.filter { $0.kind == .recordedLoss }.compactMap(\.range)
    #expect(lost.first?.lowerBound == UInt64(frame.offset) && lost.last?.upperBound == UInt64(end))
    #expect(zip(lost, lost.dropFirst()).allSatisfy { $0.upperBound == $1.lowerBound })
    let kept = crashed.files(in: pagePath).filter { $0.key.hasSuffix(".quarantine") }
    #expect(kept.values.reduce(0) { $0 + $1.count } == end - frame.offset)
  }
}

extension TableOperation {
  /// Whether the operation gives a record its value.
  func puts(_ record: Record) -> Bool {
    switch self {
    case .put(let key, let value), .putBefore(let key, _, let value): key == record.key && value == record.value
    default: false
    }
  }
}
