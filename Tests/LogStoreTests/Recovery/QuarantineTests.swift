import LogStoreTesting
import Testing

@testable import LogStore

@Suite struct QuarantineTests {
  private let storage = SimulatedStorage(seed: 1)
  private let aside = JournalFixture.directory + "/0000000000.0000000000000080.quarantine"

  private func keep(_ range: Range<UInt64>, of bytes: [UInt8]) throws {
    storage.makeDirectory(JournalFixture.directory)
    storage.place(bytes, at: JournalFixture.directory + "/0000000000.journal")
    let directory = try storage.openDirectory(JournalFixture.directory, create: false)
    try Quarantine(directory: directory, level: .power).keep(
      QuarantineRange(generation: 0, range: range), from: directory.open("0000000000.journal", .read))
  }

  @Test func whatTheFileNoLongerHasIsNotKept() throws {
    let bytes = [UInt8](repeating: 0, count: 130) + [1, 2, 3]
    try keep(128..<400, of: bytes)
    #expect(storage.contents(of: aside) == [0, 0, 1, 2, 3])
  }

  @Test func zerosAreNotKept() throws {
    try keep(128..<140, of: [UInt8](repeating: 0, count: 200))
    try keep(128..<140, of: [UInt8](repeating: 0, count: 20))
    #expect(storage.contents(of: aside) == nil)
  }

  @Test func aCopyThatACrashLeftHalfDoneIsReplaced() throws {
    storage.makeDirectory(JournalFixture.directory)
    storage.place([9, 9, 9, 9], at: aside + ".tmp")
    try keep(128..<131, of: [UInt8](repeating: 7, count: 131))
    #expect(storage.contents(of: aside) == [7, 7, 7])
    #expect(storage.contents(of: aside + ".tmp") == nil)
  }

  /// The rot has spread since an earlier opening set the first bytes aside.
  @Test func whatIsMissingBehindWhatWasSetAsideGetsAFileOfItsOwn() throws {
    let bytes = [UInt8](repeating: 0, count: 128) + [1, 2, 3, 4, 5, 6]
    try keep(128..<130, of: bytes)
    try keep(128..<134, of: bytes)
    let rest = JournalFixture.directory + "/0000000000.0000000000000082.quarantine"
    #expect(storage.contents(of: aside) == [1, 2])
    #expect(storage.contents(of: rest) == [3, 4, 5, 6])
    try keep(128..<134, of: bytes)
    #expect(storage.names(in: JournalFixture.directory).count == 3)
  }

  @Test func anEmptyFileOfTheSameNameIsReplaced() throws {
    storage.makeDirectory(JournalFixture.directory)
    storage.place([], at: aside)
    try keep(128..<131, of: [UInt8](repeating: 7, count: 131))
    #expect(storage.contents(of: aside) == [7, 7, 7])
  }

  /// Neither the copy nor its removal works: the error is that of the copy, and the bytes stay where they were.
  @Test func aCopyThatFailsIsAnError() throws {
    storage.fail(Fault(.rename, .error(28)))
    storage.fail(Fault(.remove, .error(5)))
    let error = #expect(throws: LogStoreError.self) { try keep(128..<131, of: [UInt8](repeating: 7, count: 131)) }
    #expect(error?.code == .noSpace)
    #expect(storage.contents(of: aside) == nil)
  }
}
