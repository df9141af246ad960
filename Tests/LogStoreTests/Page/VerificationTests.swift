import LogStoreTesting
import Testing

@testable import LogStore

/// Verifying never calls sound what a writer refuses.
@Suite struct VerificationTests {
  @Test(arguments: [(Limits.writableLSN - 1, false), (Limits.writableLSN, true)])
  func whatNoWriterGoesOnBehindIsToldByVerifying(base: UInt64, isRefused: Bool) throws {
    let journal = JournalFixture(0, baseLSN: base)
    journal.put("a")
    let storage = JournalFixture.storage(journal)
    let report = try PageInspector(path: JournalFixture.directory, storage: storage).verify()
    let told = report.findings.first { $0.kind == .impossible }
    #expect((told != nil) == isRefused)
    if let told {
      #expect(told.severity == .damage && told.file == journal.name && told.lsns == (base + 1)...(base + 1))
    }
    do throws(LogStoreError) {
      _ = try Page.fixture(storage)
      #expect(!isRefused)
    } catch {
      #expect(isRefused && error.code == .damaged)
    }
  }

  /// A page with more than 4 MiB in its journal, and in its snapshot.
  private func largePage() throws -> SimulatedStorage {
    let storage = SimulatedStorage(seed: 1)
    let page = try Page.fixture(storage, .create)
    for first in stride(from: 0, to: 5000, by: 500) {
      var batch = WriteBatch()
      for number in first..<first + 500 {
        try batch.put([UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 1000), for: "key \(number)")
      }
      try page.write(batch, durability: .process)
    }
    try page.compact()
    try page.close()
    return storage
  }

  private func verify(
    _ storage: SimulatedStorage, _ helpers: Helpers, _ progress: ProgressHandler? = nil
  ) throws(LogStoreError) -> VerificationReport {
    let directory = try mapped { () throws(StorageError) in
      try storage.openDirectory(JournalFixture.directory, create: false)
    }
    var verification = Verification(
      files: try PageFiles(directory, cacheBytes: 0), progress: progress, startHelper: helpers.start)
    return try verification.run()
  }

  @Test func twoThreadsFindWhatOneFinds() throws {
    let (journal, snapshot) = (JournalFixture(0).path, JournalFixture.directory + "/0000000001.snapshot")
    for damaged in [[], [(snapshot, 3_000_000)], [(journal, 3_000_000)], [(snapshot, 5_100_000), (journal, 99_999)]] {
      let storage = try largePage()
      for (path, place) in damaged { storage.edit(path) { $0[place] ^= 1 } }
      let expected = try verify(storage, Helpers(.none))
      #expect((expected.severity == .damage) == !damaged.isEmpty)
      for kind in [Helpers.Kind.prompt, .late, .never] {
        let helpers = Helpers(kind)
        let told = Shared<[Progress]>([])
        let report = try verify(storage, helpers) { made in
          told.change { $0.append(made) }
          return true
        }
        #expect(report == expected)
        #expect(helpers.started == 1 && helpers.haveEnded())
        let bytes = told.current.map(\.completedBytes)
        #expect(bytes == bytes.sorted() && bytes.last == report.bytes)
      }
    }
  }

  @Test func cancellingEndsBothThreads() throws {
    let storage = try largePage()
    for calls in 1...2 {
      for kind in [Helpers.Kind.prompt, .late, .never] {
        let helpers = Helpers(kind)
        let left = Shared(calls)
        let error = #expect(throws: LogStoreError.self) {
          try verify(storage, helpers) { _ in
            left.change { $0 -= 1 }
            return left.current > 0
          }
        }
        #expect(error?.code == .cancelled)
        #expect(helpers.haveEnded())
      }
    }
  }
}
