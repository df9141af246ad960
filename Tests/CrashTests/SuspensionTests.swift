import Glibc
import LogStore
import LogStoreTesting
import Testing

@testable import CrashHarness

/// A page that is suspended holds no lock and owes nothing.
@Suite struct SuspensionTests {
  @Test func aSuspendedPageHasLetGoAndIsDurableAndComesBackWithoutReadingItAgain() throws {
    let storage = SimulatedStorage(seed: 1)
    let page = try Page.open(storage)
    for number in 0..<100 { try page.put("value", for: "\(number)", durability: .process) }
    let before = try page.view()
    try page.suspend()
    #expect(!storage.isLocked(pagePath))
    let left = try Page.open(storage.crash(.powerCut(.dropUnsynced)), .readOnly)
    #expect(try left.view().count == 100)
    #expect(left.report.findings.isEmpty)
    let error = #expect(throws: LogStoreError.self) { try page.put("x", for: "x") }
    #expect(error?.code == .suspended)
    #expect(throws: LogStoreError.self) { try page.view() }
    #expect(try before.value(for: "7") == bytes("value"))
    storage.forgetCalls()
    try page.resume()
    #expect(!storage.calls.contains { $0.operation == .read })
    #expect(storage.isLocked(pagePath))
    try page.put("more", for: "more")
    #expect(try page.view().count == 101)
    #expect(try Page.open(storage.crash(.powerCut(.dropUnsynced))).view().count == 101)
  }

  @Test func aPageThatSomebodyElseHoldsMeanwhileIsLockedAndCanBeResumedLater() throws {
    let storage = SimulatedStorage(seed: 2)
    let page = try Page.open(storage)
    try page.put("one", for: "a")
    try page.suspend()
    #expect(storage.lockElsewhere(pagePath))
    let error = #expect(throws: LogStoreError.self) { try page.resume() }
    #expect(error?.code == .locked)
    storage.unlockElsewhere(pagePath)
    try page.resume()
    try page.put("two", for: "b")
    #expect(try page.keys() == ["a", "b"])
  }

  @Test func aPageThatSomebodyElseWroteMeanwhileShowsThat() throws {
    let storage = SimulatedStorage(seed: 3)
    let page = try Page.open(storage)
    try page.put("one", for: "a")
    let old = page.position
    try page.suspend()
    let other = try Page.open(storage)
    try other.put("two", for: "b")
    try other.compact(keep: Retention.none)
    try other.put("three", for: "c")
    try other.close()
    try page.resume()
    #expect(try page.keys() == ["a", "b", "c"])
    // Whoever still stands where it was is told so.
    var batch = WriteBatch()
    try batch.put("x", for: "x")
    #expect(throws: LogStoreError.self) { try page.write(batch, expecting: old) }
    #expect(try page.keys() == ["a", "b", "c"])
  }

  @Test func anotherPageAtTheSamePathIsNotTakenForTheSuspendedOne() throws {
    let storage = SimulatedStorage(seed: 4)
    let page = try Page.open(storage)
    try page.put("one", for: "a")
    try page.suspend()
    storage.move(pagePath, to: "/aside")
    let other = try Page.open(storage)
    try other.put("other", for: "x")
    try other.close()
    // The page that was suspended has gone on elsewhere, so that its state in memory is no longer its state.
    let aside = try Page(path: "/aside", mode: .readWrite, options: quietOptions(storage))
    try aside.put("two", for: "b")
    try aside.close()
    do {
      try page.resume()
      #expect(try page.keys() == ["a", "b"])
    } catch {
      #expect((error as? LogStoreError)?.code == .storeReplaced)
    }
    #expect(try Page.open(storage).keys() == ["x"])
  }

  @Test(arguments: [EPERM, EIO, EACCES])
  func aDeviceThatIsLockedWhilePageIsSuspendedRefusesAndLaterServes(errno: Int32) throws {
    for place in 0..<30 {
      let storage = SimulatedStorage(seed: 5)
      let page = try Page.open(storage)
      try page.put("one", for: "a")
      try page.suspend()
      storage.fail(Fault(nil, .error(errno), after: place, repeating: true))
      var hasResumed = false
      do {
        try page.resume()
        hasResumed = true
        try page.put("two", for: "b")
      } catch {
        #expect([.unavailable, .io, .outcomeUnknown].contains(error.code), "call \(place): \(error)")
      }
      // A process in the background that holds a lock is ended by the system.
      #expect(storage.isLocked(pagePath) == hasResumed, "call \(place)")
      storage.heal()
      try page.resume()
      try page.recover()
      #expect(try page.value("a") == "one", "call \(place)")
      try page.put("three", for: "c")
      #expect(try Page.open(storage.crash(.powerCut(.dropUnsynced))).keys().last == "c")
    }
  }
}
