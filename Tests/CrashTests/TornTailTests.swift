import LogStore
import LogStoreTesting
import Testing

@testable import CrashHarness

/// What a crash leaves at the end of a journal.
@Suite struct TornTailTests {
  private let journal = pagePath + "/0000000000.journal"

  /// A page with `a` acknowledged, and whatever `tail` makes of the journal's end.
  private func page(_ seed: UInt64, tail: (inout [UInt8]) -> Void) throws -> SimulatedStorage {
    let storage = SimulatedStorage(seed: seed)
    let page = try Page.open(storage)
    try page.put("one", for: "a")
    storage.edit(journal, tail)
    return storage.crash(.kill)
  }

  @Test(arguments: 1..<60)
  func whatIsAcknowledgedBehindATornTailIsFoundAgain(cut: Int) throws {
    let storage = SimulatedStorage(seed: 1)
    let page = try Page.open(storage)
    try page.put("one", for: "a")
    try page.put("torn, at one of its bytes, by a crash", for: "b", durability: .process)
    storage.edit(journal) { $0.removeLast(cut) }
    let left = storage.crash(.kill)
    let again = try Page.open(left)
    #expect(try again.keys() == ["a"])
    try again.put("three", for: "c")
    try again.put("four", for: "d")
    for crash in [Crash.kill, .powerCut(.dropUnsynced), .powerCut(.keepAll)] {
      let last = try Page.open(left.crash(crash))
      #expect(try last.keys() == ["a", "c", "d"])
      #expect(!last.report.hasDamage)
    }
  }

  @Test(arguments: [1, 8, 9, 511, 595, 4096, 70_000])
  func aTailOfZerosOpensAndIsKeptNowhere(count: Int) throws {
    let storage = try page(2) { $0 += [UInt8](repeating: 0, count: count) }
    let again = try Page.open(storage)
    #expect(try again.keys() == ["a"])
    #expect(again.report.findings.contains { $0.kind == .tornTail })
    #expect(!again.report.hasDamage)
    try again.put("two", for: "b")
    try again.compact(keep: Retention.none)
    #expect(!storage.names(in: pagePath).contains { $0.hasSuffix(".quarantine") })
    #expect(try Page.open(storage.crash(.powerCut(.dropUnsynced))).keys() == ["a", "b"])
  }

  @Test(arguments: [1, 595, 70_000])
  func aTailOfRandomBytesOpensAndIsSetAsideBeforeItsFileGoes(count: Int) throws {
    var random = SeededRandom(seed: 595)
    var garbage = (0..<count).map { _ in UInt8.random(in: 1...255, using: &random) }
    // What begins with zeros need not be all zeros.
    if count == 595 { garbage.replaceSubrange(..<16, with: repeatElement(0, count: 16)) }
    let storage = try page(3) { $0 += garbage }
    let end = storage.contents(of: journal)!.count - count
    storage.recordMoments()
    let again = try Page.open(storage)
    #expect(try again.keys() == ["a"])
    try again.put("two", for: "b")
    try again.compact(keep: Retention.none)
    let hex = String(end, radix: 16)
    let name = "0000000000." + String(repeating: "0", count: 16 - hex.count) + hex + ".quarantine"
    #expect(storage.contents(of: pagePath + "/" + name) == garbage)
    #expect(storage.durableContents(of: pagePath + "/" + name) == garbage)
    // At no moment are the bytes in neither place.
    for moment in storage.moments.indices {
      let left = storage.crash(.powerCut(.dropUnsynced), at: moment)
      let here =
        left.contents(of: journal).map { $0.count >= end + count && Array($0[end...].prefix(count)) == garbage }
        ?? false
      #expect(here || left.contents(of: pagePath + "/" + name) == garbage, "moment \(moment)")
    }
  }

  @Test func workAtOpeningGrowsWithTheJournalAndNotWithThePage() throws {
    func bytesRead(records: Int) throws -> Int {
      let storage = SimulatedStorage(seed: 4)
      let page = try Page.open(storage)
      for start in stride(from: 0, to: records, by: 100) {
        var batch = WriteBatch()
        for number in start..<(start + 100) { try batch.put(String(repeating: "v", count: 200), for: "key \(number)") }
        try page.write(batch, durability: .process)
      }
      try page.compact(keep: Retention.none)
      try page.put("tail", for: "a")
      try page.close()
      storage.forgetCalls()
      let again = try Page.open(storage)
      #expect(try again.view().count == records + 1)
      return storage.calls.filter { $0.operation == .read }.reduce(0) { $0 + ($1.count ?? 0) }
    }
    #expect(try bytesRead(records: 4000) <= bytesRead(records: 400) + 4096)
  }
}
