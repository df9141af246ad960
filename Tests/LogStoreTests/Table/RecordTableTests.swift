import Testing

@testable import LogStore

@Suite struct RecordTableTests {
  static let kinds: [TableOperationKind] = [.put, .putBefore, .remove, .move, .moveToEnd, .clear]

  /// Every sequence of up to four operations over two keys and three anchors, one of them never there.
  @Test(arguments: [0, 2]) func shortSequences(baseCount: Int) throws {
    let keys: [[UInt8]] = [[1], [2]]
    let anchors = keys + [[9]]
    var choices: [ModelOperation] = [ModelOperation(kind: .clear)]
    for key in keys {
      for kind in [TableOperationKind.put, .remove, .moveToEnd] { choices.append(.init(kind: kind, key: key)) }
      for anchor in anchors {
        choices.append(.init(kind: .putBefore, key: key, anchor: anchor))
        choices.append(.init(kind: .move, key: key, anchor: anchor))
      }
    }
    // Without a base the first of four operations would mostly find nothing, so it is a put there.
    let base = baseCount == 0 ? nil : ModelBase(Array(keys.prefix(baseCount)))
    let length = base == nil ? 4 : 3
    var failure: String?
    var checked = 0
    func check(_ sequence: [ModelOperation]) throws {
      let table = RecordTable(base: base, shape: .tiny, seed: 7)
      var model = TableModel(base: base)
      for operation in sequence { model.apply(operation) }
      try table.absorb(sequence)
      checked += 1
      // The structure is that of few records: a sample of it is enough.
      let fault = checked % 8 == 0 ? table.structureFault() : nil
      if let difference = try fault ?? table.view().difference(from: model, absent: anchors) {
        failure = failure ?? "\(sequence): \(difference)"
      }
    }
    func extend(_ sequence: [ModelOperation]) throws {
      if !sequence.isEmpty { try check(sequence) }
      if sequence.count == length || failure != nil { return }
      for choice in choices where base != nil || !sequence.isEmpty || choice.kind == .put {
        var next = choice
        next.serial = sequence.count + 1
        try extend(sequence + [next])
      }
    }
    try extend([])
    #expect(failure == nil)
    #expect(checked > 5000)
  }

  struct Run: CustomStringConvertible {
    var seed: UInt64
    var base: Int
    var keys: Int
    var steps: Int
    var shape = TableShape.tiny
    var description: String { "seed \(seed), base \(base), keys \(keys)" }
  }

  static let runs: [Run] = [
    Run(seed: 1, base: 0, keys: 12, steps: 1500), Run(seed: 2, base: 10, keys: 20, steps: 1500),
    Run(seed: 3, base: 0, keys: 300, steps: 2500), Run(seed: 4, base: 200, keys: 300, steps: 2500),
    Run(seed: 5, base: 150, keys: 160, steps: 2500),
    // All keys collide, or all within four buckets: chains.
    Run(
      seed: 6, base: 20, keys: 60, steps: 1000,
      shape: TableShape(leafEntries: 5, innerEntries: 4, bucketEntries: 6, directoryDepth: 3, hashMask: 0)),
    Run(
      seed: 7, base: 0, keys: 200, steps: 1500,
      shape: TableShape(leafEntries: 8, innerEntries: 5, bucketEntries: 9, directoryDepth: 2)),
    Run(seed: 8, base: 100, keys: 1500, steps: 4000, shape: TableShape()),
    // All hashes have the same high half, so that buckets tell no key from another.
    Run(
      seed: 12, base: 100, keys: 900, steps: 4000,
      shape: TableShape(leafEntries: 16, innerEntries: 9, bucketEntries: 60, directoryDepth: 12, hashMask: 0xFFFF)),
    // Limits large enough that sparse nodes are merged, small enough that there are many.
    Run(seed: 9, base: 500, keys: 700, steps: 4000, shape: .merging),
    Run(seed: 10, base: 0, keys: 500, steps: 4000, shape: .merging),
    Run(seed: 11, base: 400, keys: 400, steps: 4000, shape: .merging),
  ]

  /// Random operations in blocks of random length, with views taken at random, kept for a while and then compared with
  /// what the model was when they were taken.
  @Test(arguments: runs) func randomOperations(run: Run) throws {
    var random = SeededGenerator(run.seed)
    let keys = (0..<run.keys).map { key($0) }
    let base = run.base == 0 ? nil : ModelBase(Array(keys.prefix(run.base)))
    let table = RecordTable(base: base, shape: run.shape, seed: run.seed)
    if run.seed % 2 == 0 { table.reserve(records: run.keys) }
    var model = TableModel(base: base)
    var kept: [(TableView, TableModel)] = []
    var serial = 0
    var phase = 0
    while serial < run.steps {
      var block: [ModelOperation] = []
      for _ in 0..<Int.random(in: 1...40, using: &random) {
        // Phases of growth and of removal, so that the structures also shrink.
        if serial % 400 == 0 { phase = Int.random(in: 0..<3, using: &random) }
        serial += 1
        let choice = Int.random(in: 0..<100, using: &random)
        let kind: TableOperationKind =
          switch choice {
          case 0 where serial % 10 == 0: .clear
          case 0..<(phase == 0 ? 60 : 15): .remove
          case 0..<70: .putBefore
          case 70..<80: .move
          case 80..<85: .moveToEnd
          default: .put
          }
        let operation = ModelOperation(
          kind: kind, key: keys.randomElement(using: &random)!, anchor: keys.randomElement(using: &random)!,
          serial: serial)
        model.apply(operation)
        block.append(operation)
      }
      try table.absorb(block)
      if run.seed % 3 == 0, Int.random(in: 0..<50, using: &random) == 0 { table.reserve(records: run.keys * 4) }
      #expect(table.count == model.entries.count)
      if Int.random(in: 0..<4, using: &random) == 0 { kept.append((table.view(), model)) }
      if Int.random(in: 0..<20, using: &random) == 0 {
        let difference = try table.view().difference(from: model, samples: 20)
        let fault = table.structureFault()
        #expect(difference == nil, "after \(serial) operations")
        #expect(fault == nil, "after \(serial) operations")
        if difference != nil || fault != nil { return }
      }
      if kept.count > 6 {
        let (view, then) = kept.remove(at: Int.random(in: 0..<kept.count, using: &random))
        let difference = try view.difference(from: then, samples: 10)
        #expect(difference == nil, "a view, checked after \(serial) operations")
        if difference != nil { return }
      }
    }
    for (view, then) in kept { #expect(try view.difference(from: then, samples: 10) == nil) }
    #expect(try table.view().difference(from: model, absent: keys, samples: 300) == nil)
  }

  /// Different lengths, some long; all distinct.
  func key(_ number: Int) -> [UInt8] {
    let length = [2, 3, 5, 9, 17, 40][number % 6] + (number % 97 == 0 ? 500 : 0)
    var key = [UInt8](repeating: UInt8(number % 251), count: length)
    key[0] = UInt8(number & 255)
    key[1] = UInt8(number >> 8)
    return key
  }

  /// Nodes and buckets of full size, deep enough for an inner level, filled in order, read back and emptied.
  @Test func fillAndEmpty() throws {
    let table = RecordTable(base: nil)
    let keys = (0..<12_000).map { key($0) }
    try table.absorb(keys.enumerated().map { ModelOperation(kind: .put, key: $1, serial: $0) })
    let full = table.view()
    #expect(full.count == keys.count)
    for i in stride(from: 0, to: keys.count, by: 37) {
      #expect(try full.index(of: keys[i]) == i)
      #expect(full.ref(at: i) == .journal(ModelOperation(kind: .put, serial: i).location))
    }
    let used = table.pageCounts.used
    // In an order that leaves every leaf sparse before it is empty.
    for rest in [0, 2, 1] {
      try table.absorb(stride(from: rest, to: keys.count, by: 3).map { ModelOperation(kind: .remove, key: keys[$0]) })
    }
    #expect(table.count == 0)
    #expect(try table.view().find(keys[5]) == nil)
    #expect(try full.index(of: keys[11_999]) == 11_999)
    // What is left are the buckets of the key index.
    #expect(table.pageCounts.used < used / 2)
  }

  /// Keys of every length there is, and an empty one, which no page has but which must do no harm.
  @Test func keysOfAllLengths() throws {
    let table = RecordTable(base: nil)
    let lengths = Array(0...40) + Array(stride(from: 41, through: Limits.keyBytes, by: 31)) + [Limits.keyBytes]
    // Two keys of each length that differ in one byte, at each end in turn.
    var operations: [ModelOperation] = []
    for length in lengths where length > 0 {
      for side in 0..<2 {
        for value in [UInt8(1), 2] {
          var key = [UInt8](repeating: 7, count: length)
          key[side == 0 ? 0 : length - 1] = value + UInt8(side * 10)
          operations.append(.init(kind: .put, key: key, serial: operations.count))
        }
      }
    }
    operations.append(.init(kind: .put, key: [], serial: operations.count))
    try table.absorb(operations)
    var model = TableModel(base: nil)
    for operation in operations { model.apply(operation) }
    #expect(model.entries.count == operations.count)
    #expect(try table.view().difference(from: model, absent: [[99], [UInt8](repeating: 7, count: 40)]) == nil)
  }

  /// A block fails as a whole, wherever in it the base fails.
  @Test func errorFromBaseChangesNothing() throws {
    let base = ModelBase((0..<20).map { key($0) })
    let table = RecordTable(base: base, shape: .tiny, seed: 1)
    var model = TableModel(base: base)
    let before = (0..<10).map { ModelOperation(kind: .putBefore, key: key($0 * 3), anchor: key($0), serial: $0 + 1) }
    for operation in before { model.apply(operation) }
    try table.absorb(before)
    let block = (0..<12).map { ModelOperation(kind: .move, key: key($0 + 5), anchor: key($0 + 50), serial: $0 + 100) }
    var failures = 0
    for allowed in 0..<100 {
      base.fail(after: allowed)
      do throws(LogStoreError) {
        try table.absorb(block)
        break
      } catch {
        failures += 1
        #expect(error.code == .io)
        base.fail(after: -1)
        #expect(try table.view().difference(from: model, absent: [key(50)]) == nil)
      }
    }
    #expect(failures > 5)
    for operation in block { model.apply(operation) }
    base.fail(after: -1)
    #expect(try table.view().difference(from: model) == nil)
    // A read that fails is an error, never an absent record.
    base.fail(after: 0)
    let view = table.view()
    #expect(throws: LogStoreError.self) { try view.find(key(19)) }
  }

  /// What comes before the last clear of a block is not looked up, and the base is gone afterwards.
  @Test func clearNeedsNoBase() throws {
    let base = ModelBase((0..<5).map { key($0) })
    let table = RecordTable(base: base)
    let old = table.view()
    base.fail(after: 0)
    try table.absorb([
      .init(kind: .put, key: key(1), serial: 1), .init(kind: .clear), .init(kind: .put, key: key(2), serial: 2),
    ])
    #expect(table.count == 1)
    #expect(try table.view().find(key(1)) == nil)
    #expect(try table.view().index(of: key(2)) == 0)
    base.fail(after: -1)
    #expect(old.count == 5)
    #expect(try old.find(key(1)) == .base(1))
  }

  /// A range of the base that was split to insert a record is one again when that record has gone.
  @Test func rangesJoinAgain() throws {
    let base = ModelBase((0..<9).map { key($0) })
    let table = RecordTable(base: base)
    for number in 0..<50 {
      try table.absorb([.init(kind: .putBefore, key: key(100 + number), anchor: key(1 + number % 8), serial: number)])
      try table.absorb([.init(kind: .remove, key: key(100 + number))])
    }
    var runs: [Range<Int>] = []
    table.view().forEachPiece(in: 0..<9) { piece in
      if case .base(let run) = piece { runs.append(run) }
      return true
    }
    #expect(runs == [0..<9])
  }

  /// Leaves with ranges of the base are split, then merged when most is removed; what is left of the base is found.
  @Test func sparseBase() throws {
    let keys = (0..<3000).map { key($0) }
    let base = ModelBase(keys)
    let table = RecordTable(base: base, shape: .merging, seed: 1)
    var model = TableModel(base: base)
    var random = SeededGenerator(1)
    try table.absorb(stride(from: 1, to: 3000, by: 3).map { .init(kind: .put, key: keys[$0], serial: $0) })
    for index in stride(from: 1, to: 3000, by: 3) {
      model.entries[index].ref = .journal(ModelOperation(kind: .put, serial: index).location)
    }
    #expect(table.structureFault() == nil)
    let nodes = table.view().checkStructure().nodes
    // Stretches of different length are kept.
    let kept = Set(stride(from: 0, to: 3000, by: 40).flatMap { $0..<$0 + Int.random(in: 0...6, using: &random) })
    for start in stride(from: 0, to: 3000, by: 500) {
      let removed = (start..<start + 500).filter { !kept.contains($0) }.shuffled(using: &random)
      try table.absorb(removed.map { .init(kind: .remove, key: keys[$0]) })
      #expect(table.structureFault() == nil)
    }
    model.entries = (0..<3000).filter { kept.contains($0) }.map { model.entries[$0] }
    #expect(try table.view().difference(from: model, absent: [keys[39], keys[2999]]) == nil)
    #expect(table.view().checkStructure().nodes < nodes / 3)
  }

  /// Keys whose hashes all collide share a chain of buckets, and the room in it is used.
  @Test func collidingKeysShareBuckets() throws {
    let table = RecordTable(base: nil, shape: TableShape(bucketEntries: 50, directoryDepth: 2, hashMask: 0), seed: 1)
    try table.absorb((0..<240).map { ModelOperation(kind: .put, key: key($0), serial: $0) })
    #expect(table.view().checkStructure().buckets == 5 + 2)
    for round in 0..<20 {
      try table.absorb((0..<100).map { ModelOperation(kind: .remove, key: key($0 + round)) })
      try table.absorb((0..<100).map { ModelOperation(kind: .put, key: key($0 + round), serial: $0) })
    }
    #expect(table.count == 240)
    #expect(table.view().checkStructure().buckets == 5 + 2)
    #expect(table.structureFault() == nil)
  }

  /// Removing a base record that was split out of its range and putting it again gives a new record at the end.
  @Test func baseRecordDoesNotComeBack() throws {
    let base = ModelBase((0..<5).map { key($0) })
    let table = RecordTable(base: base)
    try table.absorb([.init(kind: .put, key: key(2), serial: 1)])
    try table.absorb([.init(kind: .remove, key: key(2))])
    #expect(try table.view().find(key(2)) == nil)
    try table.absorb([.init(kind: .remove, key: key(2)), .init(kind: .put, key: key(2), serial: 2)])
    #expect(table.count == 5)
    #expect(try table.view().index(of: key(2)) == 4)
  }
}
