import LogStore
import LogStoreTesting
import Testing

@testable import CrashHarness

/// What a recovery has dropped stays dropped, is said at every opening, and is set aside.
@Suite struct RecordedLossTests {
  private let journal = pagePath + "/0000000000.journal"

  private struct Damaged {
    var storage: SimulatedStorage
    var frame: FramePlace
    var original: [UInt8]
  }

  /// Twelve records, of which the sixth is damaged.
  private func damaged() throws -> Damaged {
    let storage = SimulatedStorage(seed: 1)
    let page = try Page.open(storage)
    for number in 0..<12 { try page.put("value \(number)", for: "key \(number)", durability: .process) }
    try page.close()
    let original = storage.contents(of: journal)!
    let frame = FramePlace.all(in: original).filter { $0.kind == 1 }[5]
    storage.edit(journal) { $0[frame.offset + 12] ^= 4 }
    return Damaged(storage: storage, frame: frame, original: original)
  }

  private let kept = (0..<12).filter { $0 != 5 }.map { "key \($0)" }

  @Test func aRangeThatReadsWellAgainStaysDropped() throws {
    let damaged = try damaged()
    let first = try Page.open(damaged.storage)
    #expect(try first.keys() == kept)
    try first.put("again", for: "key 7")
    let left = damaged.storage.crash(.powerCut(.dropUnsynced))
    left.edit(journal) { $0 = damaged.original }
    let again = try Page.open(left)
    #expect(try again.keys() == kept)
    #expect(try again.value("key 7") == "again")
    #expect(again.position.lsn == 13)
    #expect(again.report.findings.contains { $0.kind == .recordedLoss && $0.lsns == 6...6 })
    #expect(!again.report.findings.contains { $0.kind == .damagedFrame })
  }

  @Test func aLossStaysOnRecordWhenTheJournalThatNamesItIsCutOff() throws {
    let damaged = try damaged()
    let first = try Page.open(damaged.storage)
    try first.put("more", for: "more")
    try first.close()
    // A partial copy: the journal that lost something is whole again but for its end, so that the next is cut off.
    let copy = damaged.storage.crash(.powerCut(.keepAll))
    let frames = FramePlace.all(in: damaged.original).filter { $0.kind == 1 }
    copy.edit(journal) { $0 = Array(damaged.original[..<frames[10].offset]) }
    let shown = (0..<10).filter { $0 != 5 }.map { "key \($0)" }
    let second = try Page.open(copy)
    #expect(second.report.isIncomplete)
    #expect(try second.keys() == shown)
    try second.put("on", for: "on")
    try second.close()
    for _ in 0..<2 {
      let again = try Page.open(copy)
      #expect(try again.keys() == shown + ["on"])
      let recorded = again.report.findings.filter { $0.kind == .recordedLoss }
      #expect(recorded.count { $0.lsns == 6...6 } == 1)
      // And what the gap itself took: the end of one journal, and the next.
      #expect(Set(recorded.map(\.file)) == ["0000000000.journal", "0000000001.journal"])
      #expect(recorded.count == 3)
      try again.close()
    }
  }

  @Test(arguments: [Retention.none, .previous, .all])
  func compactionHandsLossesDownUntilTheyAreForgotten(keep: Retention) throws {
    let storage = try damaged().storage
    let first = try Page.open(storage)
    for round in 0..<3 {
      try first.put("more", for: "round \(round)")
      storage.clock.advance(by: .seconds(700))
      try first.compact(keep: keep)
      let later = try Page.open(storage.crash(.powerCut(.dropUnsynced)))
      #expect(later.report.findings.count { $0.kind == .recordedLoss } == 1)
      #expect(try later.view().count == 12 + round)
    }
    try first.close()
    let again = try Page.open(storage)
    #expect(try again.forgetLosses().count == 1)
    let later = try Page.open(storage.crash(.powerCut(.dropUnsynced)))
    #expect(later.report.findings.filter { $0.kind == .recordedLoss }.isEmpty)
    #expect(try later.view().count == 14)
    #expect(try again.forgetLosses().isEmpty)
  }

  @Test func aLossIsNoErrorUnderAnyPolicyOnceItIsRecorded() throws {
    let storage = try damaged().storage
    try Page.open(storage).close()
    for policy in RecoveryPolicy.allCases {
      let page = try Page.open(storage, .readWrite, policy: policy)
      #expect(try page.keys() == kept, "\(policy)")
      #expect(page.report.hasDamage)
      try page.close()
    }
  }

  @Test func theDroppedBytesAreDurableInQuarantineBeforeTheirFileGoes() throws {
    let damaged = try damaged()
    let storage = damaged.storage
    let range = damaged.frame.offset..<damaged.frame.end
    let bytes = Array(storage.contents(of: journal)![range])
    let hex = String(damaged.frame.offset, radix: 16)
    let aside = pagePath + "/0000000000." + String(repeating: "0", count: 16 - hex.count) + hex + ".quarantine"
    storage.recordMoments()
    let page = try Page.open(storage)
    try page.compact(keep: Retention.none)
    #expect(storage.contents(of: journal) == nil)
    #expect(storage.contents(of: aside) == bytes)
    for moment in storage.moments.indices {
      for crash in [Crash.powerCut(.dropUnsynced), .powerCut(.seeded(UInt64(moment)))] {
        let left = storage.crash(crash, at: moment)
        #expect(left.contents(of: aside) == bytes || left.contents(of: journal).map { Array($0[range]) } == bytes)
      }
    }
  }

  @Test func quarantineThatCannotBeWrittenKeepsTheDamagedFile() throws {
    let storage = try damaged().storage
    // From the opening on, which is content to leave the evidence where it is.
    storage.fail(Fault([.create, .write, .rename], .error(28), repeating: true) { $0.contains(".quarantine") })
    let page = try Page.open(storage)
    try page.put("more", for: "more")
    let error = #expect(throws: LogStoreError.self) { try page.compact(keep: Retention.none) }
    #expect(error?.code == .noSpace)
    #expect(storage.contents(of: journal) != nil)
    #expect(try page.view().count == 12)
  }

  // MARK: The end of the log

  /// What a newest journal came to, nobody knows once it is gone, or cut to less than it began with.
  @Test(arguments: [nil, 0, 3, 127] as [Int?])
  func aNewestJournalThatIsGoneStaysOnRecordWithoutACount(length: Int?) throws {
    let storage = SimulatedStorage(seed: 2)
    let page = try Page.open(storage)
    try page.put("before", for: "a")
    try page.compact(keep: Retention.none)
    for number in 0..<5 { try page.put("lost", for: "lost \(number)") }
    try page.close()
    let newest = pagePath + "/0000000001.journal"
    if let length {
      storage.edit(newest) { $0.removeSubrange(length...) }
    } else {
      storage.delete(newest)
    }
    let first = try Page.open(storage)
    #expect(first.report.isIncomplete)
    try first.put("after", for: "b")
    try first.close()
    try expectEndlessLoss(in: "0000000001.journal", of: storage)
    let again = try Page.open(storage)
    try again.compact(keep: Retention.none)
    try again.close()
    try expectEndlessLoss(in: "0000000001.journal", of: storage)
    #expect(try Page.open(storage).forgetLosses().count == 1)
    #expect(try Page.open(storage).report.hasDamage == false)
  }

  private func expectEndlessLoss(in file: String, of storage: SimulatedStorage) throws {
    let page = try Page.open(storage, .readOnly)
    #expect(try page.keys() == ["a", "b"])
    let losses = page.report.findings.filter { $0.severity == .damage }
    #expect(losses.map(\.kind) == [.recordedLoss] && losses.first?.file == file)
    #expect(losses.first?.range == 128..<UInt64.max && losses.first?.lostOperations == nil)
  }

  /// The same of one that began with what it had carried, and of one that is cut off in its header and belongs to no snapshot.
  @Test(arguments: [3, 128, 140])
  func aNewestJournalThatIsCutIsRecordedWithoutACount(length: Int) throws {
    let storage = SimulatedStorage(seed: 3)
    var page: Page? = try Page.open(storage)
    for key in ["a", "b", "c"] { try page?.put("value", for: key) }
    page = nil
    let killed = storage.crash(.kill)
    page = try Page.open(killed)
    for key in ["d", "e"] { try page?.put("value", for: key) }
    page = nil
    let left = killed.crash(.kill)
    let names = left.names(in: pagePath)
    #expect(names == ["0000000000.journal", "0000000001.journal"])
    #expect(try #require(left.contents(of: pagePath + "/" + names[1])).count > 145)
    left.edit(pagePath + "/" + names[1]) { $0.removeSubrange(length...) }
    let first = try Page.open(left)
    #expect(first.report.isIncomplete)
    try first.put("after", for: "z")
    try first.close()
    let losses = try Page.open(left, .readOnly).report.findings.filter { $0.kind == .recordedLoss }
    #expect(losses.contains { $0.file == names[1] && $0.range?.upperBound == .max && $0.lostOperations == nil })
  }

  /// A journal between others that is gone takes operations with it too, and so may others in front of it.
  @Test func aJournalBetweenOthersThatIsGoneIsOnRecord() throws {
    let storage = SimulatedStorage(seed: 4)
    for round in 0..<5 {
      let page = try Page.open(storage)
      for number in 0..<3 { try page.put("v", for: "\(round).\(number)") }
    }
    for generation in [2, 3] { storage.delete(pagePath + "/000000000\(generation).journal") }
    let page = try Page.open(storage)
    let shown = page.position.lsn
    #expect(shown < 9)
    try page.put("after", for: "z")
    try page.close()
    let losses = try Page.open(storage, .readOnly).report.findings.filter { $0.kind == .recordedLoss }
    #expect(Set(losses.map(\.file)) == ["0000000003.journal", "0000000004.journal"])
    #expect(losses.reduce(0) { $0 + ($1.lostOperations ?? 0) } >= 15 - shown)
    #expect((losses.first { $0.file == "0000000003.journal" }?.lostOperations ?? 0) >= 12 - shown - 3)
  }
}
