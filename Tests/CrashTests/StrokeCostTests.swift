import LogStore
import LogStoreTesting
import Testing

@testable import CrashHarness

/// Writing costs what is written, whatever the page already holds.
@Suite struct StrokeCostTests {
  /// The calls of one write, where the page holds so many records, with what they ask for.
  private func calls(records: Int, compacted: Bool, _ durability: Durability) throws -> [String] {
    let storage = SimulatedStorage(seed: 1)
    let page = try Page.open(storage)
    for start in stride(from: 0, to: records, by: 100) {
      var batch = WriteBatch()
      for number in start..<(start + 100) { try batch.put(String(repeating: "v", count: 100), for: "key \(number)") }
      try page.write(batch, durability: .process)
    }
    if compacted { try page.compact(keep: Retention.none) }
    // A mark stands in front of the first write behind a sync.
    try page.put("warm", for: "warm")
    try page.put("warm", for: "warm", durability: durability)
    storage.forgetCalls()
    try page.put("stroke", for: "key 50", durability: durability)
    return storage.calls.map { "\($0.operation) \($0.count ?? 0)" }
  }

  @Test(arguments: [Durability.process, .power], [false, true])
  func aStrokeCostsTheSameOnAnyPage(durability: Durability, compacted: Bool) throws {
    let few = try calls(records: 100, compacted: compacted, durability)
    #expect(try calls(records: 10_000, compacted: compacted, durability) == few)
    #expect(few.contains { $0.hasPrefix("write") })
    #expect(!few.contains { $0.hasPrefix("read") })
  }
}
