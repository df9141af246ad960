import LogStoreTesting
import Testing

@testable import LogStore

/// Once its snapshot stands, a compaction removes what it can, whatever it meets among the old files.
@Suite struct LeftoverTests {
  private let storage = SimulatedStorage(seed: 1)
  private let directory = JournalFixture.directory
  private let newest = ["0000000003.journal", "0000000003.snapshot"]

  private func path(_ name: String) -> String { directory + "/" + name }

  /// A page of three generations, all kept; the next has the number 3.
  private func page(_ change: (inout PageOptions) -> Void = { _ in }) throws -> Page {
    let page = try Page.fixture(storage, .create, change)
    for key in ["a", "b"] {
      try page.put("v", for: key)
      try page.compact(keep: .all)
      storage.clock.advance(by: .seconds(700))
    }
    try page.put("v", for: "c")
    return page
  }

  // MARK: Files that cannot be looked at

  @Test(
    arguments: [
      "0000000000.journal", "0000000001.journal", "0000000001.snapshot", "0000000002.journal", "0000000002.snapshot",
    ], [5, 13, 24] as [Int32])
  func oneFileThatCannotBeReadKeepsNothingElse(name: String, errno: Int32) throws {
    let failures = Noted(0)
    let page = try page { $0.onEvent = { if case .removalFailed = $0 { failures.change { $0 += 1 } } } }
    storage.fail(Fault(.open, .error(errno), repeating: true) { $0 == name })
    let summary = try page.compact(keep: Retention.none)
    #expect(storage.names(in: directory) == ([name] + newest).sorted())
    #expect(summary.keptFiles == [name])
    storage.heal()
    try page.compact(keep: Retention.none)
    #expect(storage.names(in: directory) == ["0000000004.journal", "0000000004.snapshot"])
    try page.close()
    #expect(failures.current == 1)
  }

  @Test func aSingleFailedCallAmongTheOldFilesCostsOneFileAtMost() throws {
    for place in 0... {
      let test = LeftoverTests()
      let storage = test.storage
      let page = try test.page()
      storage.watch { call in
        guard call.operation == .rename, call.name == "0000000003.snapshot" else { return }
        let calls: Set<StorageError.Operation> = [.open, .read, .remove]
        storage.fail(Fault(calls, .error(5), after: place) { $0 < "0000000003" })
      }
      try page.compact(keep: Retention.none)
      storage.watch(nil)
      let left = storage.names(in: directory)
      #expect(left.count <= 3 && newest.allSatisfy(left.contains), "call \(place): \(left)")
      guard storage.faultHasFired else {
        #expect(place > 12 && left == newest)
        return
      }
    }
  }

  @Test func aDirectoryThatCannotBeListedOrMeasuredForOnceIsNoFailure() throws {
    for place in 0..<2 {
      let test = LeftoverTests()
      let storage = test.storage
      let failures = Noted(0)
      let page = try test.page { $0.onEvent = { if case .removalFailed = $0 { failures.change { $0 += 1 } } } }
      storage.watch { call in
        guard call.operation == .rename, call.name == "0000000003.snapshot" else { return }
        storage.fail(Fault(place == 0 ? .list : .status, .error(5)) { $0 == "page" })
      }
      try page.compact(keep: Retention.none)
      storage.watch(nil)
      #expect(storage.faultHasFired)
      try page.compact(keep: Retention.none)
      #expect(storage.names(in: directory) == ["0000000004.journal", "0000000004.snapshot"])
      try page.close()
      #expect(failures.current == 1)
    }
  }

  @Test func keptGenerationsHoldNoDescriptors() throws {
    func peaks(_ generations: Int) throws -> [Int] {
      let disk = SimulatedStorage(seed: 1)
      let counting = CountingStorage(disk)
      let page = try Page.fixture(disk, .create) { $0.storage = counting }
      for number in 0..<generations {
        try page.put("v", for: "\(number)")
        try page.compact(keep: .all)
      }
      _ = counting.takePeak()
      _ = try page.compactionEstimate()
      try page.compact(keep: .all)
      var peaks = [counting.takePeak()]
      _ = try PageInspector(path: directory, storage: counting).verify()
      peaks.append(counting.takePeak())
      var options = PageOptions()
      options.storage = counting
      #expect(try PageHistory.range(of: directory, options: options).oldest == 0)
      peaks.append(counting.takePeak())
      return peaks
    }
    #expect(try peaks(3) == peaks(24))
  }

  // MARK: What an earlier compaction was about to remove

  /// A power cut lets any of the removals come to nothing.
  @Test(arguments: 0..<32)
  func whatAPowerCutLeftOfRemovalsGoesTheNextTime(left: Int) throws {
    let page = try page()
    let old = storage.files(in: directory).sorted { $0.key < $1.key }
    #expect(old.count == 5)
    try page.compact(keep: Retention.none)
    try page.close()
    for (place, file) in old.enumerated() where left & 1 << place != 0 { storage.place(file.value, at: path(file.key)) }
    let again = try Page.fixture(storage)
    try again.compact(keep: Retention.none)
    #expect(storage.names(in: directory) == ["0000000004.journal", "0000000004.snapshot"])
    #expect(try again.keys() == ["a", "b", "c"])
  }

  /// A gap cuts the newest journal off, and a later compaction has removed what the state since comes from.
  @Test func whatAGapHasCutOffIsSetAsideBelowAHoleToo() throws {
    try page().close()
    storage.delete(path("0000000001.journal"))
    storage.edit(path("0000000002.snapshot")) { $0[20] ^= 1 }
    let cutOff = try #require(storage.contents(of: path("0000000002.journal")))
    storage.fail(Fault(.rename, .error(13), repeating: true) { $0.hasSuffix(".quarantine") })
    let page = try Page.fixture(storage)
    try page.put("v", for: "d")
    let shown = try page.keys()
    for _ in 0..<2 {
      let summary = try page.compact(keep: Retention.none)
      #expect(summary.removedFiles.isEmpty)
    }
    storage.heal()
    // What shows that the journal is passed over is gone.
    for name in ["0000000003.journal", "0000000004.journal", "0000000004.snapshot"] { storage.delete(path(name)) }
    try page.compact(keep: Retention.none)
    #expect(storage.contents(of: path("0000000002.0000000000000000.quarantine")) == cutOff)
    #expect(
      storage.names(in: directory) == [
        "0000000002.0000000000000000.quarantine", "0000000006.journal", "0000000006.snapshot",
      ])
    #expect(try page.keys() == shown)
  }

  /// What was set aside, and has come back under its own name, keeps nothing else.
  @Test func aJournalThatComesBackStandsInNoWay() throws {
    try page().close()
    storage.delete(path("0000000001.journal"))
    storage.edit(path("0000000002.snapshot")) { $0[20] ^= 1 }
    let cutOff = try #require(storage.contents(of: path("0000000002.journal")))
    let page = try Page.fixture(storage)
    try page.put("v", for: "d")
    try page.compact(keep: Retention.none)
    storage.place(cutOff, at: path("0000000002.journal"))
    for number in 5...6 {
      try page.compact(keep: Retention.none)
      #expect(
        storage.names(in: directory) == [
          "0000000002.0000000000000000.quarantine", "0000000002.journal", "000000000\(number).journal",
          "000000000\(number).snapshot",
        ])
    }
  }

  // MARK: Times that no clock gives

  /// Under a right checksum a header may give any moment.
  @Test(arguments: [(Int64.min, true), (.max, false), (-1 << 62, true), (0, true)])
  func aSnapshotOfAnyTimeIsKeptOrNot(time: Int64, goes: Bool) throws {
    try page().close()
    let files = try PageFiles(storage.openDirectory(directory, create: false), cacheBytes: 0)
    for generation: UInt64 in [1, 2] {
      var header = try #require(try files.look(atSnapshot: generation).file)
      header.time = time
      let buffer = ByteBuffer()
      header.append(to: buffer)
      storage.edit(path(PageFile.snapshot(generation).name)) {
        $0.replaceSubrange(0..<128, with: buffer.lend(0..<buffer.count) { $0.array })
      }
    }
    let page = try Page.fixture(storage)
    _ = try page.compactionEstimate(keep: .previous)
    let summary = try page.compact(keep: .previous)
    #expect(summary.removedFiles.contains("0000000001.snapshot") == goes)
    #expect(try page.keys() == ["a", "b", "c"])
  }
}
