import Testing

@testable import LogStore

@Suite struct TableMemoryTests {
  func key(_ number: Int, length: Int = 16) -> [UInt8] {
    var key = [UInt8](repeating: 0, count: max(length, 4))
    for i in 0..<4 { key[i] = UInt8(truncatingIfNeeded: number >> (8 * i)) }
    return key
  }

  func put(_ numbers: some Sequence<Int>, length: Int = 16) -> [ModelOperation] {
    numbers.map { ModelOperation(kind: .put, key: key($0, length: length), serial: $0) }
  }

  /// New keys come and old ones go, in order and at random places: memory stays what the living records need.
  @Test func churnReusesMemory() throws {
    let table = RecordTable(base: nil)
    var random = SeededGenerator(3)
    try table.absorb(put(0..<1000))
    var living = Array(0..<1000)
    var afterWarmUp = 0
    for round in 0..<60 {
      var block: [ModelOperation] = []
      for number in 1000 + round * 250..<1250 + round * 250 {
        let place = Int.random(in: 0..<living.count, using: &random)
        block.append(.init(kind: .remove, key: key(living[place])))
        living[place] = number
        let anchor = living.randomElement(using: &random)!
        block.append(.init(kind: .putBefore, key: key(number), anchor: key(anchor), serial: number))
      }
      try table.absorb(block)
      if round == 20 { afterWarmUp = table.pageCounts.allocated }
    }
    #expect(table.count == 1000)
    #expect(table.pageCounts.allocated == afterWarmUp)
    #expect(table.structureFault() == nil)
  }

  /// What a change takes beside its key: a record's head, its place in the order with the base's record next to it, and
  /// its share of the index. Changes that come in the base's order, or in the opposite one, leave no leaves half empty.
  @Test(arguments: [false, true]) func changesInOrderTakeLittle(isBackwards: Bool) throws {
    let changes = 32_000
    let table = RecordTable(base: ModelBase((0..<2 * changes).map { key($0) }))
    for start in stride(from: 0, to: changes, by: 500) {
      let numbers = (start..<start + 500).map { 2 * (isBackwards ? changes - 1 - $0 : $0) }
      try table.absorb(put(numbers))
    }
    #expect(table.structureFault() == nil)
    let bytes = Double(table.pageCounts.used * MemorySlot.pageBytes) / Double(changes) - 16
    #expect(bytes < 54, "\(bytes) bytes a change")
  }

  /// Memory of records of one size serves records of another.
  @Test func sizesShareMemory() throws {
    let table = RecordTable(base: nil)
    var allocated: [Int] = []
    for (round, length) in [1024, 16, 700, 40, 1000, 8, 300, 90].enumerated() {
      // About 300 KB of records each time.
      let records = put(round * 100_000..<round * 100_000 + 300_000 / (length + 40), length: length)
      try table.absorb(records)
      allocated.append(table.pageCounts.allocated)
      #expect(table.structureFault() == nil)
      try table.absorb(records.map { ModelOperation(kind: .remove, key: $0.key) })
    }
    #expect(table.count == 0)
    #expect(table.structureFault() == nil)
    // The index of the many small keys adds to what the first round needed.
    #expect(allocated.last! <= allocated[0] * 3 / 2, "\(allocated)")
  }

  /// Removing most records, in an order that empties no leaf, leaves a tree that fits the rest.
  @Test func sparseNodesAreMerged() throws {
    let table = RecordTable(base: nil, shape: TableShape(leafEntries: 20, innerEntries: 12), seed: 1)
    try table.absorb(put(0..<8000))
    #expect(table.view().checkStructure().nodes > 400)
    try table.absorb((0..<8000).filter { $0 % 20 != 0 }.map { ModelOperation(kind: .remove, key: key($0)) })
    #expect(table.count == 400)
    #expect(table.view().checkStructure().nodes < 120)
    #expect(table.structureFault() == nil)
  }

  /// Views that come and go do not add up: what they alone could see is used again. In whatever order they go.
  @Test(arguments: [0, 1, 2]) func pagesComeBackFromViews(order: Int) throws {
    let table = RecordTable(base: nil, shape: .tiny, seed: 1)
    var random = SeededGenerator(UInt64(order))
    try table.absorb(put(0..<400))
    var views: [TableView] = []
    var warm = 0
    for round in 0..<400 {
      views.append(table.view())
      try table.absorb(
        (0..<5).map { _ in
          ModelOperation(
            kind: .putBefore, key: key(.random(in: 0..<400, using: &random)),
            anchor: key(.random(in: 0..<400, using: &random)), serial: round)
        })
      if views.count > 5 {
        let leaving = order == 0 ? 0 : order == 1 ? views.count - 1 : .random(in: 0..<views.count, using: &random)
        views.remove(at: leaving)
      }
      if round == 200 { warm = table.pageCounts.allocated }
    }
    for view in views { #expect(view.checkStructure().fault == nil) }
    views = []
    #expect(table.structureFault() == nil)
    // The oldest view of the other orders may see ever more pages that have changed since, but never more than all.
    #expect(table.pageCounts.allocated <= warm * 2)
  }

  /// A view that nobody holds any more costs no copies.
  @Test func droppedViewCostsNothing() throws {
    let table = RecordTable(base: nil)
    try table.absorb(put(0..<500))
    let before = table.pageCounts.allocated
    for round in 0..<300 {
      #expect(table.view().count == 500)
      try table.absorb(put([round]))
    }
    #expect(table.pageCounts.allocated == before)
  }

  /// A view that is held keeps what it sees through a clear, and lets go of all of it.
  @Test func clearStartsAnew() throws {
    let table = RecordTable(base: nil)
    try table.absorb(put(0..<3000))
    let old = table.view()
    try table.absorb([.init(kind: .clear)])
    #expect(table.pageCounts.allocated == PageStore.smallestChunk)
    try table.absorb(put(5000..<5003))
    #expect(table.view().count == 3)
    #expect(old.count == 3000)
    #expect(old.checkStructure().fault == nil)
    #expect(try old.index(of: key(2999)) == 2999)
  }

  /// Full memory refuses a block before anything has changed.
  @Test func fullMemoryRefuses() throws {
    let table = RecordTable(base: nil, shape: TableShape(pageLimit: 400), seed: 1)
    var numbers = 0
    var refused = false
    while numbers < 100_000 {
      let block = put(numbers..<numbers + 100, length: 200)
      do throws(LogStoreError) {
        try table.absorb(block)
        numbers += 100
      } catch {
        #expect(error.code == .tooLarge)
        refused = true
        break
      }
    }
    #expect(refused)
    #expect(table.count == numbers)
    #expect(table.pageCounts.used < 400)
    #expect(table.structureFault() == nil)
    // Clearing needs no more.
    try table.absorb([.init(kind: .clear)])
    #expect(table.count == 0)
  }
}
