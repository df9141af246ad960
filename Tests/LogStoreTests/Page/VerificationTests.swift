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
}
