import Testing

@testable import LogStore

@Suite struct SnapshotRoundTripTests {
  @Test(arguments: [0, 1, 95, 96, 97, 127, 128, 129, 256, 257], [Compression.none, .deflate])
  func fewRecords(count: Int, compression: Compression) throws {
    let records = SnapshotFixture.records(count)
    var settings = SnapshotWriter.Settings()
    settings.compression = compression
    let reader = try SnapshotFixture.open(SnapshotFixture.write(records, settings: settings))
    try SnapshotFixture.expect(reader, holds: records)
    #expect(try reader.losses() == SnapshotFixture.losses)
    #expect(reader.footer.lsn == 4711)
  }

  @Test(arguments: [Compression.none, .deflate])
  func manyRecords(compression: Compression) throws {
    let records = SnapshotFixture.records(20_000)
    var settings = SnapshotWriter.Settings()
    settings.compression = compression
    let directory = try SnapshotFixture.write(records, losses: [], settings: settings)
    let reader = try SnapshotFixture.open(directory)
    try SnapshotFixture.expect(reader, holds: records, each: 37)
    #expect(try reader.losses() == [])
    for range in [0..<1, 19_999..<20_000, 127..<129, 5_000..<9_001, 300..<300] {
      #expect(try SnapshotFixture.sweep(reader, range) == Array(records[range]))
    }
    let raw = records.reduce(0) { $0 + 11 + $1.key.count + $1.value.count }
    let section = Int(reader.footer.orderOffset - reader.footer.recordsOffset)
    if compression == .none { #expect(section == raw) } else { #expect(section < raw / 2) }
  }

  /// Small and large keys and values, such that deflate and such that do not, beside one another.
  @Test(arguments: [Compression.none, .deflate])
  func mixedSizes(compression: Compression) throws {
    var dice = Dice(1)
    var records = [TestRecord(key: [0], value: []), TestRecord(key: [1], value: [7])]
    records.append(TestRecord(key: [UInt8](repeating: 9, count: 1024), value: []))
    records.append(TestRecord(key: dice.bytes(1024), value: dice.bytes(65_535)))
    for number in 0..<400 {
      let length = [0, 1, 100, 3_000, 70_000][Int(dice.next() % (number % 40 == 0 ? 5 : 4))]
      let value = number / 100 % 2 == 0 ? dice.bytes(length) : [UInt8](repeating: UInt8(number % 7), count: length)
      records.append(TestRecord(key: Array("\(number)".utf8), value: value))
    }
    var settings = SnapshotWriter.Settings()
    settings.compression = compression
    let directory = try SnapshotFixture.write(records, settings: settings)
    try SnapshotFixture.expect(SnapshotFixture.open(directory), holds: records)
    // Nothing is cached: everything is read and verified each time.
    try SnapshotFixture.expect(SnapshotFixture.open(directory, cacheBytes: 0), holds: records, each: 7)
  }

  @Test func whatDoesNotDeflateIsNotDeflated() throws {
    var dice = Dice(2)
    let records = (0..<3_000).map { TestRecord(key: Array("\($0)".utf8), value: dice.bytes(100)) }
    var settings = SnapshotWriter.Settings()
    let raw = try SnapshotFixture.write(records, settings: settings).bytes(SnapshotFixture.name)
    settings.compression = .deflate
    #expect(try SnapshotFixture.write(records, settings: settings).bytes(SnapshotFixture.name) == raw)
  }

  @Test func aSweepStopsWhenToldTo() throws {
    let reader = try SnapshotFixture.open(SnapshotFixture.write(SnapshotFixture.records(300)))
    var seen = 0
    let isDone = try reader.forEach(in: 10..<300) { _, _ in
      seen += 1
      return seen < 5
    }
    #expect(!isDone && seen == 5)
  }

  @Test func aFewSystemCallsForASmallPage() throws {
    let directory = try SnapshotFixture.write(SnapshotFixture.records(1_500))
    let calls = directory.faults.calls
    #expect(calls.count { $0 == .write } == 1)
    #expect(calls.count { $0 == .read } <= 5)
  }

  @Test func threeReadsForAValue() throws {
    let directory = try SnapshotFixture.write(SnapshotFixture.records(20_000))
    let file = MemoryFile("file", directory.bytes(SnapshotFixture.name), directory.faults)
    let reader = try SnapshotReader(
      file: file, name: SnapshotFixture.name, path: "file", generation: 7, cacheBytes: 1 << 20)
    let before = directory.faults.calls.count
    #expect(try reader.find(Array("key 12345".utf8))?.index == 12_345)
    #expect(directory.faults.calls.count - before <= 4)
  }

  @Test func aKeyIsCheckedAndAValueHasItsLimit() throws {
    let writer = try SnapshotWriter(
      directory: MemoryDirectory(), name: SnapshotFixture.name, header: SnapshotFixture.header)
    defer { writer.cancel() }
    #expect(throws: LogStoreError.self) { try writer.append(TestRecord(key: [], value: [])) }
    let long = [UInt8](repeating: 1, count: 1025)
    #expect(throws: LogStoreError.self) { try writer.append(TestRecord(key: long, value: [])) }
    let error = #expect(throws: LogStoreError.self) {
      try long[..<9].withByteSpan { try writer.begin(key: $0, valueLength: 1 << 30) }
    }
    #expect(error?.code == .tooLarge)
  }

  /// Many threads read through one small cache, which evicts all the time.
  @Test(arguments: [Compression.none, .deflate])
  func fromManyThreads(compression: Compression) async throws {
    let records = SnapshotFixture.records(4_000)
    var settings = SnapshotWriter.Settings()
    settings.compression = compression
    let reader = try SnapshotFixture.open(
      SnapshotFixture.write(records, settings: settings).bytes(SnapshotFixture.name), cacheBytes: 400_000)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<4 {
        group.addTask {
          var dice = Dice(UInt64(task))
          for _ in 0..<200 {
            let index = Int(dice.next() % 4_000)
            let found = try reader.find(records[index].key)
            #expect(found?.index == index && found?.value == records[index].value)
          }
          #expect(try SnapshotFixture.sweep(reader, 900..<1_300) == Array(records[900..<1_300]))
        }
      }
      try await group.waitForAll()
    }
  }
}
