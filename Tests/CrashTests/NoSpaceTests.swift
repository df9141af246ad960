import Glibc
import LogStoreTesting
import Testing

@testable import CrashHarness
@testable import LogStore

/// A full disk refuses: what was acknowledged stands, what was refused never comes, and no file breaks.
@Suite struct NoSpaceTests {
  @Test(arguments: [ENOSPC, EDQUOT, EFBIG], [0, 1, 9, 30])
  func halfAFrameIsRefusedAndLaterWritesGoToANewJournal(errno: Int32, fits: Int) throws {
    let storage = SimulatedStorage(seed: 1)
    let page = try Page.open(storage)
    try page.put("one", for: "a")
    if fits > 0 { storage.fail(Fault(.write, .short(fits))) }
    storage.fail(Fault(.write, .error(errno)))
    let error = #expect(throws: LogStoreError.self) { try page.put(String(repeating: "x", count: 500), for: "refused") }
    #expect(error?.code == .noSpace)
    #expect(try page.keys() == ["a"])
    try page.put("two", for: "b")
    try page.put("three", for: "c")
    #expect(storage.names(in: pagePath) == ["0000000000.journal", "0000000001.journal"])
    for crash in [Crash.kill, .powerCut(.dropUnsynced), .powerCut(.keepAll)] {
      let again = try Page.open(storage.crash(crash))
      #expect(try again.keys() == ["a", "b", "c"])
      #expect(!again.report.hasDamage)
    }
  }

  @Test func theWholeBatchesOfAGroupStandAndTheOthersAreRefused() throws {
    let storage = SimulatedStorage(seed: 2)
    let page = try Page.open(storage)
    try page.put("one", for: "a")
    // One writer is held in its write, while three more queue up behind it: they make one group.
    let (inside, goOn) = (Turn(), Turn())
    let isArmed = Shared(true)
    storage.watch { call in
      guard call.operation == .write, isArmed.exchange(false) else { return }
      inside.come()
      _ = goOn.wait()
    }
    let answers = Shared<[String: LogStoreError.Code?]>([:])
    func write(_ key: String, _ value: String) -> Turn {
      onThread {
        do {
          try page.put(value, for: key)
          answers.change { $0[key] = .some(nil) }
        } catch {
          answers.change { $0[key] = (error as? LogStoreError)?.code ?? .io }
        }
      }
    }
    var writers = [write("b", "first")]
    #expect(inside.wait())
    writers += ["c", "d", "e"].map { write($0, String(repeating: $0, count: 100)) }
    #expect(eventually { page.core.queue.waiting == 3 })
    // A mark of 42 bytes, a batch of 112, and half of the next one.
    storage.fail(Fault(.write, .short(42 + 112 + 50), after: 1))
    storage.fail(Fault(.write, .error(ENOSPC), after: 1))
    goOn.come()
    for writer in writers { #expect(writer.wait()) }
    storage.watch(nil)
    let refused = answers.current.filter { $0.value != nil }
    let stood = answers.current.keys.filter { !refused.keys.contains($0) && $0 != "b" }
    #expect(refused.values.allSatisfy { $0 == .noSpace })
    #expect(stood.count == 1)
    #expect(refused.count == 2)
    let expected = ["a", "b"] + stood
    #expect(try page.keys() == expected)
    try page.put("more", for: "z")
    #expect(try Page.open(storage.crash(.powerCut(.dropUnsynced))).keys() == expected + ["z"])
  }

  @Test func aPageWithATornTailOpensWithNoByteFree() throws {
    for cut in 1..<40 {
      let storage = SimulatedStorage(seed: 3)
      let page = try Page.open(storage)
      try page.put("one", for: "a")
      try page.put("two", for: "b", durability: .process)
      try page.put("three", for: "c", durability: .process)
      storage.edit(pagePath + "/0000000000.journal") { $0.removeLast(cut) }
      let full = storage.crash(.kill)
      full.freeBytes = 0
      let again = try Page.open(full)
      let shown = try again.keys()
      #expect(shown.first == "a")
      let error = #expect(throws: LogStoreError.self) { try again.put("four", for: "d") }
      #expect(error?.code == .noSpace)
      #expect(try again.keys() == shown)
      full.freeBytes = nil
      try again.put("four", for: "d")
      #expect(try again.keys() == shown + ["d"])
      #expect(try Page.open(full.crash(.powerCut(.dropUnsynced))).keys() == shown + ["d"])
    }
  }

  @Test func aCloseMarkWithoutRoomIsNoFailure() throws {
    let storage = SimulatedStorage(seed: 4)
    let page = try Page.open(storage)
    try page.put("one", for: "a", durability: .process)
    storage.freeBytes = 7
    try page.close()
    let again = try Page.open(storage.crash(.powerCut(.dropUnsynced)))
    #expect(try again.keys() == ["a"])
    #expect(!again.report.hasDamage)
  }

  @Test func aCompactionWithoutRoomLeavesTheOldGenerationNoLitterAndBacksOff() throws {
    var refusals = 0
    for free in stride(from: 0, to: 30_000, by: 700) {
      let storage = SimulatedStorage(seed: 5)
      let page = try Page.open(storage)
      for number in 0..<40 {
        try page.put(String(repeating: "v", count: 500), for: "key \(number)", durability: .process)
      }
      try page.sync()
      storage.freeBytes = free
      do {
        try page.compact()
      } catch {
        refusals += 1
        #expect(error.code == .noSpace)
        #expect(!storage.names(in: pagePath).contains { $0.hasSuffix(".tmp") || $0.hasSuffix(".snapshot") })
      }
      #expect(try page.view().count == 40)
      let again = try Page.open(storage.crash(.powerCut(.dropUnsynced)))
      #expect(try again.view().count == 40)
      #expect(!again.report.hasDamage)
    }
    #expect(refusals > 20)
  }

  @Test func writesThatAreRefusedTimeAndAgainNeitherComeBackNorLeaveAnything() throws {
    let storage = SimulatedStorage(seed: 6)
    let page = try Page.open(storage)
    try page.put("one", for: "a")
    storage.freeBytes = 100
    for number in 0..<20 {
      let error = #expect(throws: LogStoreError.self) {
        try page.put(String(repeating: "x", count: 300), for: "\(number)")
      }
      #expect(error?.code == .noSpace)
    }
    #expect(storage.names(in: pagePath) == ["0000000000.journal"])
    storage.freeBytes = nil
    try page.put("two", for: "b")
    for crash in [Crash.kill, .powerCut(.dropUnsynced)] {
      #expect(try Page.open(storage.crash(crash)).keys() == ["a", "b"])
    }
  }
}
