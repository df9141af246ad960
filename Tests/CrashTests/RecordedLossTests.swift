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
}
