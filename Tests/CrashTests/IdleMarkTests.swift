import LogStore
import LogStoreTesting
import Testing

@testable import CrashHarness

/// Once nobody writes, the journal says that all of it is durable: from then on rot in it cannot pass for a torn tail.
@Suite struct IdleMarkTests {
  private func open(_ storage: SimulatedStorage) throws -> Page {
    var options = quietOptions(storage)
    options.syncAfter = .milliseconds(50)
    return try Page(path: pagePath, options: options)
  }

  /// Whether the journal comes to end in a mark behind the last operation, within a time that is ample.
  private func marksItself(_ page: Page, _ storage: SimulatedStorage) async throws -> Bool {
    for _ in 0..<200 {
      var last: FrameInfo?
      try PageInspector(path: pagePath, storage: storage).frames { frame in
        last = frame
        return true
      }
      if let mark = last?.mark, !mark.isClosed, mark.lsn == page.position.lsn { return true }
      try await Task.sleep(for: .milliseconds(20))
    }
    return false
  }

  /// Without a wait in between, so that the engine's own sync comes too late.
  private func writeAndSync(_ page: Page) throws {
    try page.put("value", for: "key", durability: .process)
    try page.sync()
  }

  @Test func aPageThatWasSyncedByHandIsMarkedOnceItIsIdle() async throws {
    let storage = SimulatedStorage(seed: 1)
    let page = try open(storage)
    try writeAndSync(page)
    #expect(try await marksItself(page, storage))
  }

  @Test func aPageThatWasSuspendedWhenItsMarkWasDueIsMarkedAgainOnceResumed() async throws {
    let storage = SimulatedStorage(seed: 2)
    let page = try open(storage)
    try await page.put("value", for: "key")
    try await page.suspend()
    try await Task.sleep(for: .milliseconds(150))
    try await page.resume()
    try await page.put("more", for: "key")
    #expect(try await marksItself(page, storage))
  }

  /// The mark would stand behind a close mark that only the cache has.
  @Test func aPageThatAnotherProcessClosedMeanwhileIsNotMarkedBeforeItIsWrittenTo() async throws {
    let storage = SimulatedStorage(seed: 3)
    var options = quietOptions(storage)
    options.syncAfter = .milliseconds(300)
    let page = try Page(path: pagePath, options: options)
    try await page.put("one", for: "a")
    try await page.suspend()
    let other = try Page.open(storage)
    try await other.put("two", for: "b")
    storage.fail(Fault(.sync, .failedSync(cache: .new), after: 0) { $0 == "0000000000.journal" })
    #expect(throws: LogStoreError.self) { try other.close() }
    try await page.resume()
    let files = storage.files(in: pagePath)
    // When the mark of its first write comes due, it finds nothing to say.
    try await Task.sleep(for: .milliseconds(1000))
    #expect(storage.files(in: pagePath) == files)
    try await page.put("three", for: "c")
    let last = try Page.open(storage.crash(.powerCut(.dropUnsynced)))
    #expect(try last.keys() == ["a", "b", "c"])
    #expect(!last.report.hasDamage)
  }

  @Test func aTimeLongerThanCanBeCountedIsNever() throws {
    for never in [Duration.seconds(Int64.max), .seconds(9_223_372_037), .seconds(Int64.min)] {
      var options = quietOptions(SimulatedStorage(seed: 9))
      options.syncAfter = never
      let page = try Page(path: pagePath, options: options)
      try page.put("one", for: "a", durability: .process)
      try page.put("two", for: "b")
      #expect(try page.keys() == ["a", "b"])
      try page.close()
    }
  }
}
