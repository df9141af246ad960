import Glibc
import LogStore
import LogStoreTesting
import Testing

@testable import CrashHarness

/// The files go or change under the running engine.
@Suite struct ReplacementTests {
  private func page(_ seed: UInt64) throws -> (SimulatedStorage, Page) {
    let storage = SimulatedStorage(seed: seed)
    let page = try Page.open(storage)
    try page.put("one", for: "a")
    return (storage, page)
  }

  @Test func aJournalReplacedByAnotherFileRefusesAndLeavesTheOtherAlone() throws {
    let (storage, page) = try page(1)
    let name = pagePath + "/0000000000.journal"
    let copy = storage.contents(of: name)!
    storage.place(copy, at: name)
    let error = #expect(throws: LogStoreError.self) { try page.put("two", for: "b") }
    #expect(error?.code == .storeReplaced)
    #expect(throws: LogStoreError.self) { try page.recover() }
    #expect(throws: LogStoreError.self) { try page.sync() }
    #expect(storage.contents(of: name) == copy)
    // What was read before still is.
    #expect(try page.value("a") == "one")
  }

  @Test func aDirectoryThatWasRemovedRefusesInsteadOfWritingIntoNowhere() throws {
    let (storage, page) = try page(2)
    storage.delete(pagePath)
    let error = #expect(throws: LogStoreError.self) { try page.put("two", for: "b") }
    #expect(error?.code == .storeReplaced)
    #expect(storage.names(in: "/").isEmpty)
  }

  @Test func aRenamedDirectoryIsTheSamePage() throws {
    let (storage, page) = try page(4)
    storage.move(pagePath, to: "/renamed")
    try page.put("two", for: "b")
    try page.compact()
    try page.close()
    var options = quietOptions(storage)
    options.storage = storage
    #expect(try Page(path: "/renamed", mode: .readWrite, options: options).keys() == ["a", "b"])
  }

  @Test func anotherPageAtTheSamePathIsNotWrittenInto() throws {
    let (storage, page) = try page(5)
    storage.move(pagePath, to: "/aside")
    let other = try Page.open(storage)
    try other.put("other", for: "x")
    try page.put("two", for: "b")
    #expect(try other.keys() == ["x"])
    #expect(try page.keys() == ["a", "b"])
    try other.close()
    try page.close()
    #expect(try Page.open(storage).keys() == ["x"])
  }

  @Test func aSuspendedPageThatWasReplacedIsOpenedAnew() throws {
    let (storage, page) = try page(6)
    try page.suspend()
    #expect(!storage.isLocked(pagePath))
    let other = try Page.open(storage)
    try other.put("two", for: "b")
    try other.close()
    try page.resume()
    #expect(try page.keys() == ["a", "b"])
    try page.put("three", for: "c")
    #expect(try Page.open(storage.crash(.powerCut(.dropUnsynced))).keys() == ["a", "b", "c"])
  }
}
