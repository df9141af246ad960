import LogStore
import LogStoreTesting
import Testing

@testable import CrashHarness

/// Opening needs no free byte, and works only through what was written since the snapshot.
@Suite struct OpeningCostTests {
  /// The calls of an opening, and the bytes that they ask for.
  private func cost(records: Int, tail: Int, killed: Bool) throws -> (calls: Int, bytes: Int) {
    let storage = SimulatedStorage(seed: 4)
    let page = try Page.open(storage)
    for start in stride(from: 0, to: records, by: 100) {
      var batch = WriteBatch()
      for number in start..<(start + 100) { try batch.put(String(repeating: "v", count: 200), for: "key \(number)") }
      try page.write(batch, durability: .process)
    }
    try page.compact(keep: Retention.none)
    for number in 0..<tail { try page.put(String(repeating: "t", count: 1000), for: "tail \(number)") }
    if !killed { try page.close() }
    let left = storage.crash(.kill)
    left.freeBytes = 0
    left.forgetCalls()
    let before = left.files(in: pagePath)
    let again = try Page.open(left)
    let calls = left.calls
    #expect(left.files(in: pagePath) == before)
    #expect(try again.view().count == records + tail)
    return (calls.count, calls.reduce(0) { $0 + ($1.operation == .read ? $1.count ?? 0 : 0) })
  }

  @Test(arguments: [false, true])
  func anOpeningOnAFullDiskCostsWhatTheTailCosts(killed: Bool) throws {
    let small = try cost(records: 300, tail: 20, killed: killed)
    let large = try cost(records: 6000, tail: 20, killed: killed)
    let longer = try cost(records: 300, tail: 2000, killed: killed)
    // What the page holds is asked of for each key of the tail, and of no other.
    #expect(large.calls <= small.calls + 20)
    #expect(large.bytes <= small.bytes + 20 * 4096)
    #expect(longer.bytes >= small.bytes + 1900 * 1000)
    #expect(longer.bytes <= 3 * 2000 * 1100)
  }

  @Test func aPageWithDamageOpensOnAFullDiskAndShowsTheRest() throws {
    let storage = SimulatedStorage(seed: 5)
    let page = try Page.open(storage)
    for key in ["a", "b", "c", "d"] { try page.put("value", for: key) }
    try page.close()
    let journal = pagePath + "/0000000000.journal"
    let frames = FramePlace.all(in: try #require(storage.contents(of: journal)))
      .filter { $0.kind == 1 }
    storage.edit(journal) { $0[frames[1].offset + 12] ^= 1 }
    let full = storage.crash(.kill)
    full.freeBytes = 0
    do {
      let again = try Page.open(full)
      #expect(again.report.hasDamage)
      #expect(try again.keys() == ["a", "c", "d"])
    }
    full.freeBytes = nil
    let later = try Page.open(full)
    try later.put("value", for: "e")
    #expect(try Page.open(full.crash(.powerCut(.dropUnsynced))).keys() == ["a", "c", "d", "e"])
  }
}
