import LogStore
import LogStoreTesting
import Testing

@testable import CrashHarness

/// Readers take no lock: they open a page that a writer changes under them.
@Suite struct ReaderTests {
  @Test func aReaderOpensWhateverAWriterDoesBetweenItsCalls() throws {
    // The writer comes in once, before the reader's n-th call, for each n: it writes, compacts, and removes the old files.
    for keep in [Retention.none, .previous] {
      var place = 0
      var cameIn = true
      while cameIn, place < 200 {
        let storage = SimulatedStorage(seed: 1)
        let page = try Page.open(storage)
        for key in ["a", "b", "c"] { try page.put("old", for: key) }
        try page.compact(keep: keep)
        try page.put("old", for: "d")
        let left = Shared(place)
        let isWriting = Shared(false)
        let problem = Shared<String?>(nil)
        storage.watch { _ in
          guard !isWriting.current else { return }
          left.change { $0 -= 1 }
          guard left.current == -1 else { return }
          isWriting.change { $0 = true }
          do {
            try page.put("new", for: "e")
            try page.compact(keep: keep)
            try page.put("new", for: "f", durability: .process)
            try page.compact(keep: keep)
          } catch {
            problem.change { $0 = "\(error)" }
          }
          isWriting.change { $0 = false }
        }
        let reader = try Page.open(storage, .readOnly)
        let keys = try reader.keys()
        storage.watch(nil)
        cameIn = left.current < 0
        let said = "call \(place), keeping \(keep)"
        #expect(problem.current == nil, "\(said)")
        #expect(
          [["a", "b", "c", "d"], ["a", "b", "c", "d", "e"], ["a", "b", "c", "d", "e", "f"]].contains(keys),
          "\(said): \(keys)")
        #expect(!reader.report.hasDamage, "\(said): \(reader.report.findings)")
        place += 1
      }
      #expect(place > 10)
    }
  }

  @Test func aReaderChangesNoByteAndTakesNoLock() throws {
    let storage = SimulatedStorage(seed: 2)
    let page = try Page.open(storage)
    try page.put("one", for: "a")
    try page.put("two", for: "b", durability: .process)
    let before = storage.files(in: pagePath)
    storage.forgetCalls()
    let reader = try Page.open(storage, .readOnly)
    #expect(try reader.keys() == ["a", "b"])
    #expect(throws: LogStoreError.self) { try reader.put("x", for: "x") }
    #expect(throws: LogStoreError.self) { try reader.compact() }
    try reader.close()
    #expect(!storage.calls.contains { $0.changesDisk || $0.operation == .lock })
    #expect(storage.files(in: pagePath) == before)
  }

  @Test func aViewIsNotTouchedByLaterWritesCompactionsAndRemovedFiles() throws {
    let storage = SimulatedStorage(seed: 3)
    let page = try Page.open(storage)
    var views: [(PageView, OrderedTable)] = []
    var table = OrderedTable()
    for round in 0..<8 {
      let batch: [TableOperation] = [
        .put(bytes("\(round)"), bytes("round \(round)")), .put(bytes("same"), bytes("\(round)")),
        .remove(bytes("\(round - 2)")),
      ]
      try page.write(WriteBatch(batch))
      table.apply(batch)
      views.append((try page.view(), table))
      if round % 2 == 1 { try page.compact(keep: Retention.none) }
    }
    try page.close()
    for (view, table) in views { #expect(try OrderedTable(view.records()) == table) }
  }
}
