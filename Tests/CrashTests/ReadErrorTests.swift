import Glibc
import LogStore
import LogStoreTesting
import Testing

@testable import CrashHarness

/// A read that fails is an error with the file's name in it, never an absence and never an end.
@Suite struct ReadErrorTests {
  enum Face: CaseIterable {
    case value, contains, index, record, forEach, records, view

    func read(_ page: Page, _ view: PageView) throws {
      switch self {
      case .value: _ = try view.value(for: "a")
      case .contains: _ = try view.contains("a")
      case .index: _ = try view.index(of: "a")
      case .record: _ = try view.record(at: 0)
      case .forEach: try view.forEach { _, _ in true }
      case .records: _ = try view.records()
      case .view: _ = try page.view()
      }
    }

    /// Whether a journal's record is known without a read.
    var isInMemory: Bool { self == .contains || self == .index }
  }

  @Test(arguments: Face.allCases, [false, true])
  func everyFaceOfReadingThrowsWhatTheSystemSaid(face: Face, compacted: Bool) throws {
    for errno in [EIO, EACCES] { try check(face, compacted, errno) }
  }

  private func check(_ face: Face, _ compacted: Bool, _ errno: Int32) throws {
    let storage = SimulatedStorage(seed: 5)
    let page = try Page.open(storage)
    try page.put("one", for: "a")
    if compacted { try page.compact(keep: Retention.none) }
    let view = try page.view()
    if case .view = face { try page.put("x", for: "b") }
    storage.fail(Fault(.read, .error(errno), repeating: true))
    guard compacted || !face.isInMemory else { return try face.read(page, view) }
    let error = #expect(throws: LogStoreError.self) { try face.read(page, view) }
    #expect(error?.code == (errno == EIO ? .io : .unavailable))
    #expect(error?.errno == errno)
    let generation = compacted ? 1 : 0
    let name = compacted && face != .view ? "snapshot" : "journal"
    #expect(error?.path == "/page/000000000\(generation).\(name)")
    // The fault gone, everything is there.
    storage.heal()
    try face.read(page, view)
    #expect(try page.value("a") == "one")
    #expect(try view.value(for: "a") == bytes("one"))
  }

  @Test func aReadErrorInTheMiddleOfAJournalIsNoEndOfItAtOpening() throws {
    let storage = SimulatedStorage(seed: 6)
    let page = try Page.open(storage)
    for number in 0..<2000 {
      try page.put(String(repeating: "v", count: 400), for: "key \(number)", durability: .process)
    }
    try page.close()
    let before = storage.files(in: pagePath)
    for (mode, policy) in [(OpenMode.readWrite, RecoveryPolicy.salvage), (.readOnly, .salvage), (.readWrite, .strict)] {
      storage.fail(Fault(.read, .error(EIO), after: 2) { $0 == "0000000000.journal" })
      let error = #expect(throws: LogStoreError.self) { try Page.open(storage, mode, policy: policy) }
      #expect(error?.code == .io)
      #expect(storage.faultHasFired)
      storage.heal()
      #expect(storage.files(in: pagePath) == before)
    }
    #expect(try Page.open(storage).view().count == 2000)
  }
}
