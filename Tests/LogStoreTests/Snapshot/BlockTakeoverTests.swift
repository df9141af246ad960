import LogStoreTesting
import Testing

@testable import LogStore

/// Deflated blocks that go from one snapshot into the next as they are.
struct BlockTakeoverTests {
  private static let records = SnapshotFixture.records(5_000)

  private func deflated(_ records: [TestRecord] = BlockTakeoverTests.records) throws -> MemoryDirectory {
    var settings = SnapshotWriter.Settings()
    settings.compression = .deflate
    return try SnapshotFixture.write(records, settings: settings)
  }

  /// A record that is not in the source.
  private static func new(_ number: Int) -> TestRecord { TestRecord(key: [1, UInt8(number)], value: [2, 3]) }

  /// Copies ranges of the records, a new one between them, into a snapshot of another salt. Returns how many records
  /// came in blocks, and the snapshot.
  private func copy(
    _ ranges: [Range<Int>], compression: Compression = .deflate,
    from source: MemoryDirectory? = nil
  ) throws -> (taken: Int, SnapshotReader) {
    let reader = try SnapshotFixture.open(try source ?? deflated())
    var header = SnapshotFixture.header
    header.salt = 77
    var settings = SnapshotWriter.Settings()
    settings.compression = compression
    let target = MemoryDirectory()
    let writer = try SnapshotWriter(
      directory: target, name: SnapshotFixture.name, header: header, settings: settings)
    let sweep = SnapshotSweep(reader)
    var taken = 0
    for (number, range) in ranges.enumerated() {
      let end = try sweep.visit(range) { deflated, records, count in
        guard try writer.append(block: deflated, records: records, count: count) else { return false }
        taken += count
        return true
      } _: { key, value in
        try writer.append(key: key, value: value)
        return true
      }
      if case .failed(let error, _) = end { throw error }
      if number + 1 < ranges.count { try writer.append(BlockTakeoverTests.new(number)) }
    }
    _ = try writer.finish()
    let bytes = target.bytes(writer.temporaryName)
    let copy = try SnapshotReader(
      file: MemoryFile(SnapshotFixture.name, bytes), name: SnapshotFixture.name, path: "/memory", generation: 7,
      cacheBytes: 1 << 20)
    #expect(copy.header == header)
    #expect(try copy.verifyAll() == [])
    return (taken, copy)
  }

  private func expect(_ reader: SnapshotReader, holds records: [TestRecord]) throws {
    #expect(try SnapshotFixture.sweep(reader) == records)
    for index in stride(from: 0, to: records.count, by: 7) {
      let found = try reader.find(records[index].key)
      #expect(found?.index == index && found?.value == records[index].value)
    }
  }

  @Test func allBlocksAreTakenOver() throws {
    let (taken, copy) = try copy([0..<5_000])
    // But for a short one at the end.
    #expect(taken > 4_600)
    try expect(copy, holds: BlockTakeoverTests.records)
  }

  /// Of so many bytes, deflated, a second thread inflates the next blocks.
  @Test func blocksThatAreReadAheadAreTakenOver() throws {
    var dice = Dice(1)
    let records = (0..<1_000).map { number in
      TestRecord(key: Array("key \(number)".utf8), value: dice.bytes(250) + [UInt8](repeating: 0, count: 250))
    }
    let source = try deflated(records)
    #expect(source.bytes(SnapshotFixture.name).count > 2 * Int(BlocksAhead.worthwhile))
    let (taken, copy) = try copy([0..<500, 501..<1_000], from: source)
    #expect(taken > 900)
    try expect(copy, holds: Array(records[..<500]) + [BlockTakeoverTests.new(0)] + Array(records[501...]))
  }

  /// What is changed, comes in or goes is written anew, with what shares its block; the rest is taken over.
  @Test(arguments: [
    [0..<2_500, 2_500..<5_000], [1..<5_000], [0..<1, 2..<4_999], [0..<700, 701..<702, 4_000..<5_000],
  ])
  func onlyWholeBlocksAreTakenOver(_ ranges: [Range<Int>]) throws {
    let (taken, copy) = try copy(ranges)
    var expected: [TestRecord] = []
    for (number, range) in ranges.enumerated() {
      expected += BlockTakeoverTests.records[range]
      if number + 1 < ranges.count { expected.append(BlockTakeoverTests.new(number)) }
    }
    #expect(taken > expected.count / 2 && taken < expected.count)
    try expect(copy, holds: expected)
  }

  @Test func nothingIsTakenOverWhereNothingIsDeflated() throws {
    let (taken, copy) = try copy([0..<5_000], compression: .none)
    #expect(taken == 0)
    try expect(copy, holds: BlockTakeoverTests.records)
  }

  /// Records between blocks do not leave ever smaller blocks behind.
  @Test func blocksDoNotCrumble() throws {
    let reader = try SnapshotFixture.open(deflated())
    let starts = try starts(reader)
    let ranges = zip(starts, starts.dropFirst() + [reader.count]).map { $0..<$1 }
    let (_, copy) = try copy(ranges)
    #expect(try self.starts(copy).count < starts.count * 5 / 4)
  }

  /// The first record of each block, and of what is none.
  private func starts(_ reader: SnapshotReader) throws -> [Int] {
    var starts: [Int] = []
    var last: UInt64 = 0
    for index in 0..<reader.count {
      let offset = try reader.place(of: index).offset
      if offset != last { starts.append(index) }
      last = offset
    }
    return starts
  }

  // MARK: Pages

  private func open(_ storage: SimulatedStorage) throws -> Page {
    var options = PageOptions()
    options.storage = storage
    options.compression = .deflate
    options.compaction = .manual
    return try Page(path: "/page", options: options)
  }

  private func page(_ storage: SimulatedStorage) throws -> Page {
    let page = try open(storage)
    var batch = WriteBatch()
    for record in BlockTakeoverTests.records { try batch.put(record.value, for: record.key) }
    try page.write(batch)
    try page.compact()
    return page
  }

  @Test func aPageShowsTheSameBehindACompaction() throws {
    let storage = SimulatedStorage(seed: 1)
    let page = try page(storage)
    for round in 0..<3 {
      var batch = WriteBatch()
      try batch.put("changed \(round)", for: "key \(1_000 + round)")
      try batch.remove("key \(2_000 + round)")
      try batch.put("in between", for: "new \(round)", before: "key 3000")
      try batch.move("key \(20 * round)", before: "key 4321")
      try page.write(batch)
      let records = try page.view().records()
      #expect(records.count == 5_000)
      try page.compact(keep: Retention.none)
      #expect(try page.view().records() == records)
    }
    let records = try page.view().records()
    try page.close()
    #expect(try open(storage).view().records() == records)
  }

  /// What it held comes from the generation that is kept; the blocks around it are taken over.
  @Test func aDamagedBlockIsMendedAndNotTakenOver() throws {
    let storage = SimulatedStorage(seed: 2)
    var page = try page(storage)
    try page.put("changed", for: "key 7")
    let name = "/page/" + Self.snapshot(try page.compact(keep: .previous).generation)
    let records = try page.view().records()
    try page.close()
    storage.edit(name) { $0[$0.count / 3] ^= 1 }
    page = try open(storage)
    try page.put("changed again", for: "key 8")
    try page.compact(keep: Retention.none)
    var found = try page.view().records()
    #expect(found[8].value == bytes("changed again"))
    found[8].value = records[8].value
    #expect(found == records)
    try page.close()
    #expect(try PageInspector(path: "/page", storage: storage).verify().findings.allSatisfy { $0.severity != .damage })
  }

  private static func snapshot(_ generation: UInt64) -> String { PageFile.snapshot(generation).name }

  @Test func aDamagedBlockIsNotTakenOver() throws {
    let source = try deflated()
    let reader = try SnapshotFixture.open(source)
    var bytes = source.bytes(SnapshotFixture.name)
    bytes[Int(try reader.place(of: 2_000).offset) + 100] ^= 1
    source.put(SnapshotFixture.name, bytes)
    let error = #expect(throws: LogStoreError.self) { _ = try copy([0..<5_000], from: source) }
    #expect(error?.code == .damaged)
  }
}
