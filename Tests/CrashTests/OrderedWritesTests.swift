import LogStore
import LogStoreTesting
import Testing

@testable import CrashHarness

/// What was written at `.ordered` is put in order and no more, until something makes it durable.
@Suite struct OrderedWritesTests {
  /// The keys that each state shows which a power cut may leave now.
  private func shown(_ storage: SimulatedStorage, _ profile: CrashProfile) throws -> Set<[String]> {
    storage.recordMoments()
    return Set(
      try storage.crashStates(at: 0, under: profile).map { state in
        let page = try Page.open(state.storage())
        #expect(!page.report.hasDamage)
        return try page.keys()
      })
  }

  private func write(_ storage: SimulatedStorage) throws -> Page {
    let page = try Page.open(storage)
    try page.put("one", for: "a")
    try page.put("two", for: "b", durability: .ordered)
    return page
  }

  @Test(arguments: CrashProfile.allCases) func aBarrierIsNoFlush(profile: CrashProfile) throws {
    let storage = SimulatedStorage(seed: 1)
    let page = try write(storage)
    #expect(page.durablePosition.lsn == 1)
    let all: Set = profile.orderedSyncsAreDurable ? [["a", "b"]] : [["a"], ["a", "b"]]
    #expect(try shown(storage, profile) == all)
  }

  enum Raising: CaseIterable { case sync, write, suspend, close, compact }

  @Test(arguments: Raising.allCases) func whatMakesAllDurableAlsoRaisesWhatWasOrdered(raising: Raising) throws {
    for profile in CrashProfile.allCases {
      let storage = SimulatedStorage(seed: 2)
      let page = try write(storage)
      var keys = ["a", "b"]
      switch raising {
      case .sync: try page.sync()
      case .write:
        try page.put("three", for: "c")
        keys.append("c")
      case .suspend: try page.suspend()
      case .close: try page.close()
      case .compact: try page.compact(keep: Retention.none)
      }
      #expect(try shown(storage, profile) == [keys], "\(profile)")
    }
  }

  @Test func aSyncBehindOneThatWasFullAsksForNothing() throws {
    let storage = SimulatedStorage(seed: 3)
    let page = try write(storage)
    storage.forgetCalls()
    try page.sync()
    try page.sync()
    #expect(storage.calls.filter { $0.operation == .sync }.count == 1)
    #expect(page.durablePosition == page.position)
  }

  @Test func whatAFailedSyncLeavesInDoubtIsCarriedOnFromTheLastFullOne() throws {
    for cache in Fault.Cache.allCases {
      let storage = SimulatedStorage(seed: 4)
      let page = try write(storage)
      try page.put("three", for: "c", durability: .process)
      storage.fail(Fault(.sync, .failedSync(cache: cache)))
      let error = #expect(throws: LogStoreError.self) { try page.sync() }
      #expect(error?.lsn == 1)
      try page.recover()
      for profile in CrashProfile.allCases {
        #expect(try shown(storage, profile) == [["a", "b", "c"]], "\(profile)")
      }
    }
  }

  /// Otherwise all that was ever ordered would stay in memory, for a failed sync.
  @Test(arguments: [true, false]) func theEngineRaisesByItselfWhatWasOrdered(byBytes: Bool) async throws {
    let storage = SimulatedStorage(seed: 5)
    var options = quietOptions(storage)
    if byBytes { options.syncAfterBytes = 1 } else { options.syncAfter = .milliseconds(20) }
    let page = try Page(path: pagePath, options: options)
    try await page.put("one", for: "a", durability: .ordered)
    for _ in 0..<500 where page.durablePosition.lsn < 1 { try await Task.sleep(for: .milliseconds(20)) }
    #expect(page.durablePosition.lsn == 1)
    #expect(try shown(storage, .strict) == [["a"]])
  }

  #if os(Linux)
    @Test func onLinuxItIsDurableAtOnce() throws {
      let folder = TemporaryFolder()
      let page = try Page(path: folder.path + "/page")
      try page.put("one", for: "a", durability: .ordered)
      #expect(page.durablePosition == page.position)
    }
  #endif

  @Test(arguments: [
    "records absent 1 1:0 ordered p+a=3.5;0 sync;0 ordered p+b=3.6",
    "records compacted 1 1:0 process p+a=3.5;0 ordered p+b=3.6;0 process p+c=3.7;0 close",
    "records compacted 1 1:0 ordered p+a=3.5;0 compact none;0 ordered p+b=3.6;0 suspend",
    "records absent 1 1:0 ordered p+a=3.5;0 kill;0 ordered p+b=3.6;0 failed-sync old p+c=3.7",
    "state compacted 1 1:0 ordered p+a=3.5;0 full 42 p+b=3.6;0 ordered p+c=3.7;0 sync",
  ]) func crashesKeepWhatWasPromisedUnderEachProfile(text: String) throws {
    let workload = try #require(Workload(text))
    var explorer = Explorer(Effort(extent: CrashExtent(exhaustive: 1024, samples: 64)), seen: nil)
    let failure = explorer.explore(workload)
    #expect(failure == nil, "\(failure?.what ?? "") \(failure?.subject.description ?? "")")
    #expect(explorer.examination.counts.values.reduce(0) { $0 + $1.states } > 100)
  }
}
