import LogStore
import LogStoreTesting
import Testing

@testable import CrashHarness

/// Options have no value that a page could not be opened and written with.
@Suite struct ExtremeOptionsTests {
  private func use(_ options: PageOptions) throws {
    for durability in Durability.allCases {
      let page = try Page(path: pagePath, options: options)
      try page.put("one", for: "a", durability: durability)
      try page.put(String(repeating: "x", count: 5000), for: "b", durability: durability)
      try page.sync()
      #expect(try page.keys() == ["a", "b"])
      do throws(LogStoreError) { try page.compact() } catch { #expect(error.code == .busy) }
      try page.put("two", for: "a", durability: durability)
      try page.close()
    }
  }

  @Test(arguments: [Int.max, .max - 1, .max / 4 + 1, 1 << 61, 1, 0, -1, .min]) func anyNumberOfBytes(bytes: Int) throws
  {
    var options = quietOptions(SimulatedStorage(seed: 1))
    options.syncAfterBytes = bytes
    try use(options)
    options = quietOptions(SimulatedStorage(seed: 2))
    options.cacheBytes = bytes
    try use(options)
    options = quietOptions(SimulatedStorage(seed: 3))
    options.retention = .count(bytes)
    try use(options)
    options = quietOptions(SimulatedStorage(seed: 4))
    options.compaction.isAutomatic = true
    options.compaction.journals = bytes
    options.compaction.minimumBytes = UInt64(truncatingIfNeeded: bytes)
    options.compaction.percentOfSnapshot = UInt64(truncatingIfNeeded: bytes)
    try use(options)
  }

  @Test func theGreatestNumberOfBytesIsNever() throws {
    let storage = SimulatedStorage(seed: 5)
    var options = quietOptions(storage)
    options.syncAfterBytes = .max
    let page = try Page(path: pagePath, options: options)
    storage.forgetCalls()
    for number in 0..<50 { try page.put("value", for: "\(number)", durability: .process) }
    #expect(!storage.calls.contains { $0.operation == .sync })
  }
}
