import Dispatch
import Foundation
import LogStoreTesting
import Synchronization
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

  @Test func aCompactionThatRunsIsWaitedForAndNotTakenBack() throws {
    let page = try open()
    try page.put("v", for: "a")
    let (isAtWork, mayGoOn, hasEnded) = (
      DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
    )
    Thread.detachNewThread {
      #expect(throws: Never.self) {
        try page.compact { _ in
          isAtWork.signal()
          mayGoOn.wait()
          mayGoOn.signal()
          return true
        }
      }
      hasEnded.signal()
    }
    isAtWork.wait()
    Thread.detachNewThread {
      #expect(throws: Never.self) { try page.close() }
      hasEnded.signal()
    }
    while page.core.compaction.withLock({ $0.waiting.isEmpty }) { Thread.sleep(forTimeInterval: 0.001) }
    mayGoOn.signal()
    hasEnded.wait()
    hasEnded.wait()
    #expect(storage.names(in: directory).filter { $0.hasSuffix(".snapshot") } == ["0000000001.snapshot"])
    #expect(!isLocked())
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
