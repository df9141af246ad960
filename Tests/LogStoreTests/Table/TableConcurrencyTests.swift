import Testing

@testable import LogStore

@Suite struct TableConcurrencyTests {
  /// One task writes and takes views; others read them, check them against the model of their moment, and let them go
  /// on their own threads while the writer goes on.
  @Test(arguments: [11, 12] as [UInt64]) func viewsOnOtherThreads(seed: UInt64) async throws {
    var random = SeededGenerator(seed)
    let keys = (0..<80).map { [UInt8($0), 1, 2] + [UInt8](repeating: 3, count: $0 % 20) }
    let base = ModelBase(Array(keys.prefix(40)))
    let table = RecordTable(base: base, shape: .tiny, seed: seed)
    var model = TableModel(base: base)
    var serial = 0
    try await withThrowingTaskGroup(of: String?.self) { group in
      var running = 0
      for round in 0..<150 {
        var block: [ModelOperation] = []
        for _ in 0..<8 {
          serial += 1
          let kind = [TableOperationKind.put, .putBefore, .putBefore, .remove, .move].randomElement(using: &random)!
          let operation = ModelOperation(
            kind: round % 60 == 59 && block.isEmpty ? .clear : kind, key: keys.randomElement(using: &random)!,
            anchor: keys.randomElement(using: &random)!, serial: serial)
          model.apply(operation)
          block.append(operation)
        }
        try table.absorb(block)
        // Two readers of one view, so that either may be the last to hold it.
        let view = table.view()
        let then = model
        for reader in 0..<2 {
          group.addTask {
            if let fault = view.checkStructure().fault { return "round \(round): \(fault)" }
            return try view.difference(from: then, samples: 12 + reader).map { "round \(round): \($0)" }
          }
          running += 1
        }
        while running > 8 {
          #expect(try await group.next() == .some(nil))
          running -= 1
        }
      }
      for try await difference in group { #expect(difference == nil) }
    }
    #expect(table.structureFault() == nil)
    #expect(try table.view().difference(from: model) == nil)
  }
}
