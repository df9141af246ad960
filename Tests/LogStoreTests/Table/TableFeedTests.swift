import Testing

@testable import LogStore

/// Blocks that another thread has the table absorb come to what they come to one after the other.
struct TableFeedTests {
  private let keys = (0..<90).map { [UInt8($0), 1, 2] + [UInt8](repeating: 3, count: $0 % 20) }

  private func operations(_ count: Int, _ serial: inout Int, _ dice: inout Dice) -> [ModelOperation] {
    (0..<count).map { _ in
      serial += 1
      let clears = Int.random(in: 0..<300, using: &dice) == 0
      return ModelOperation(
        kind: clears ? .clear : RecordTableTests.kinds[..<5].randomElement(using: &dice)!,
        key: keys.randomElement(using: &dice)!, anchor: keys.randomElement(using: &dice)!, serial: serial)
    }
  }

  @Test(arguments: Helpers.Kind.allCases.filter { $0 != .none })
  func nothingIsLostOrComesOutOfOrder(kind: Helpers.Kind) throws {
    var dice = Dice(3)
    var serial = 0
    for blocks in [0, 1, 2, 3, 7, 300] {
      let helpers = Helpers(kind)
      let base = ModelBase(Array(keys.prefix(40)))
      let table = RecordTable(base: base, shape: .tiny, seed: 5)
      var model = TableModel(base: base)
      let feed = TableFeed(table, start: try #require(helpers.start))
      var block = OperationBlock()
      for _ in 0..<blocks {
        for operation in operations(Int.random(in: 1..<30, using: &dice), &serial, &dice) {
          model.apply(operation)
          block.append(operation, hash: table.hash)
        }
        block = try feed.exchange(block)
        #expect(block.isEmpty)
      }
      try feed.finish()
      #expect(helpers.haveEnded())
      #expect(table.structureFault() == nil)
      #expect(try table.view().difference(from: model) == nil)
    }
  }

  /// What stands in front of the block that fails is in the table, and nothing behind it.
  @Test(arguments: Helpers.Kind.allCases.filter { $0 != .none })
  func aFailureEndsIt(kind: Helpers.Kind) throws {
    for good in [0, 1, 5, 40] {
      let helpers = Helpers(kind)
      let base = ModelBase(keys)
      let table = RecordTable(base: base, shape: .tiny, seed: 5)
      let feed = TableFeed(table, start: try #require(helpers.start))
      base.fail(after: good)
      var handed = 0
      let error = #expect(throws: LogStoreError.self) {
        var block = OperationBlock()
        for number in 0..<60 {
          block.append(ModelOperation(kind: .remove, key: keys[number]), hash: table.hash)
          handed += 1
          block = try feed.exchange(block)
        }
        try feed.finish()
      }
      #expect(error?.code == .io)
      // It is told again, and the helper ends.
      #expect(throws: LogStoreError.self) { try feed.finish() }
      #expect(helpers.haveEnded())
      #expect(handed > good)
      #expect(table.count == keys.count - good)
    }
  }
}
