import LogStoreTesting
import Synchronization
import Testing

@testable import LogStore

/// A search behind a fault takes as long as the file is large: it tells how far it has come, and ends when it is told to.
@Suite struct SearchProgressTests {
  /// Where, in front of many MiB in which nothing verifies, something is wrong.
  enum Fault: CaseIterable { case tail, firstFrame, header, headerAndMark, headerAndFrame, snapshot }

  enum Reading: CaseIterable { case open, openForWriting, verify, frames, salvage }

  /// Told of every 4 MiB.
  private static let bytes = 9 << 20

  private func storage(_ fault: Fault) throws -> SimulatedStorage {
    let journal = JournalFixture()
    journal.put("a")
    let mark = journal.mark(1, durableEnd: UInt64(Limits.headerBytes))
    let last = journal.put("b")
    let storage = JournalFixture.storage(journal)
    func spoil(_ path: String, at places: Int...) {
      storage.edit(path) { bytes in
        for place in places { bytes[place] ^= 1 }
        bytes += [UInt8](repeating: 0, count: SearchProgressTests.bytes)
      }
    }
    switch fault {
    case .tail: spoil(journal.path)
    case .firstFrame: spoil(journal.path, at: Limits.headerBytes + 12)
    case .header: spoil(journal.path, at: 50)
    case .headerAndMark: spoil(journal.path, at: 50, Int(mark) + 12)
    case .headerAndFrame: spoil(journal.path, at: 50, Int(last) + 12)
    case .snapshot:
      let page = try Page.fixture(storage)
      try page.compact(keep: Retention.none)
      try page.close()
      let snapshot = try #require(storage.names(in: JournalFixture.directory).first { $0.hasSuffix(".snapshot") })
      spoil(JournalFixture.directory + "/" + snapshot)
    }
    return storage
  }

  private func read(
    _ storage: SimulatedStorage, _ reading: Reading, _ progress: @escaping ProgressHandler
  ) throws {
    let inspector = PageInspector(path: JournalFixture.directory, storage: storage)
    switch reading {
    case .open: try Page.fixture(storage, .readOnly) { $0.onProgress = progress }.close()
    case .openForWriting: try Page.fixture(storage) { $0.onProgress = progress }.close()
    case .verify: _ = try inspector.verify(progress: progress)
    case .frames: try inspector.frames(progress: progress) { _ in true }
    case .salvage:
      var options = PageOptions()
      options.storage = storage
      _ = try inspector.salvage(to: "/copy", options: options, progress: progress)
    }
  }

  @Test(
    arguments: [
      (.tail, .open), (.tail, .frames), (.firstFrame, .openForWriting), (.firstFrame, .verify), (.header, .open),
      (.header, .salvage), (.headerAndMark, .open), (.headerAndFrame, .open),
    ] as [(Fault, Reading)])
  func aLongSearchOfAJournalEndsWhenItIsToldTo(fault: Fault, reading: Reading) throws {
    try expectCancelled(storage(fault), reading)
  }

  @Test func aLongSearchOfASnapshotEndsWhenItIsToldTo() throws {
    try expectCancelled(storage(.snapshot), .salvage)
  }

  private func expectCancelled(_ storage: SimulatedStorage, _ reading: Reading) throws {
    let calls = Atomic(0)
    do {
      try read(storage, reading) { _ in
        calls.add(1, ordering: .relaxed)
        return false
      }
      Issue.record("nobody was asked")
    } catch let error as LogStoreError {
      #expect(error.code == .cancelled)
    }
    #expect(calls.load(ordering: .relaxed) == 1)
    #expect(storage.names(in: "/copy").isEmpty)
  }

  /// What is looked at twice counts once: never back, and never more than there is.
  @Test(arguments: [Reading.open, .verify]) func bytesCountOnce(reading: Reading) throws {
    let storage = try storage(.firstFrame)
    let told = Mutex<[Progress]>([])
    try read(storage, reading) { progress in
      told.withLock { $0.append(progress) }
      return true
    }
    let completed = told.withLock { $0.map(\.completedBytes) }
    let total = try #require(told.withLock { $0.last?.totalBytes })
    #expect(completed.count > 2)
    #expect(completed == completed.sorted())
    #expect(total > UInt64(SearchProgressTests.bytes))
    let last = try #require(completed.last)
    #expect(last <= total && last > UInt64(SearchProgressTests.bytes) / 2)
  }
}
