import LogStoreTesting
import Testing

@testable import LogStore

/// A page that is compacted when it is closed.
@Suite struct CompactionAtCloseTests {
  private let storage = SimulatedStorage(seed: 1)
  private let directory = JournalFixture.directory

  private func open(_ mode: OpenMode = .create) throws -> Page {
    try Page.fixture(storage, mode) { $0.compaction.atClose = true }
  }

  private func isLocked() -> Bool { storage.isLocked(directory) }

  @Test func whatWasWrittenIsInASnapshotAndNothingIsDoneWhereNothingWas() throws {
    let page = try open()
    try page.put("v", for: "a")
    try page.close()
    #expect(storage.names(in: directory).contains("0000000001.snapshot"))
    try page.close()
    let before = storage.files(in: directory)
    let again = try open()
    #expect(try again.keys() == ["a"])
    try again.close()
    let reader = try open(.readOnly)
    try reader.close()
    #expect(storage.files(in: directory) == before)
  }

  @Test(arguments: [(28, nil), (13, nil), (5, .io)] as [(Int32, LogStoreError.Code?)])
  func whereItFailsThePageIsClosedAllTheSame(errno: Int32, code: LogStoreError.Code?) throws {
    let page = try open()
    try page.put("v", for: "a")
    storage.fail(Fault([.create, .write], .error(errno), repeating: true) { $0.hasSuffix(".snapshot.tmp") })
    var thrown: LogStoreError?
    do { try page.close() } catch { thrown = error }
    #expect(thrown?.code == code)
    #expect(!isLocked())
    storage.heal()
    try page.close()
    let again = try Page.fixture(storage)
    #expect(try again.keys() == ["a"])
    #expect(!again.report.findings.contains { $0.kind == .notClosed })
  }

  @Test func aSuspendedPageCanBeClosed() throws {
    let page = try open()
    try page.put("v", for: "a")
    try page.suspend()
    try page.close()
    #expect(throws: LogStoreError.self) { try page.put("v", for: "b") }
    #expect(try open(.readOnly).keys() == ["a"])
  }
}
