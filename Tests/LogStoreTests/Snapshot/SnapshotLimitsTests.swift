import LogStoreTesting
import Testing

@testable import LogStore

/// What a snapshot's writer refuses, and what its reader does at the edges.
@Suite struct SnapshotLimitsTests {
  private let directory = MemoryDirectory()

  private func writer(state: UInt32 = 0, _ change: (inout SnapshotWriter.Settings) -> Void = { _ in }) throws
    -> SnapshotWriter
  {
    var (header, settings) = (SnapshotFixture.header, SnapshotWriter.Settings())
    header.state = state
    change(&settings)
    return try SnapshotWriter(directory: directory, name: SnapshotFixture.name, header: header, settings: settings)
  }

  private func expect(
    _ code: LogStoreError.Code, _ body: () throws -> Void, at place: SourceLocation = #_sourceLocation
  ) {
    let error = #expect(throws: LogStoreError.self, sourceLocation: place) { try body() }
    #expect(error?.code == code, sourceLocation: place)
  }

  @Test func whatIsTooLongIsRefusedAndTheWriterGoesOn() throws {
    let writer = try writer { $0.records = 2 }
    let key: [UInt8] = [1]
    expect(.tooLarge) { try key.withByteSpan { try writer.begin(key: $0, valueLength: Limits.batchBytes + 1) } }
    expect(.invalidKey) { try writer.append(TestRecord(key: [], value: [])) }
    for key in [[UInt8(1)], [2]] { try writer.append(TestRecord(key: key, value: [])) }
    expect(.tooLarge) { try writer.append(TestRecord(key: [3], value: [])) }
    _ = try writer.finish()
    expect(.closed) { _ = try writer.finish() }
    #expect(try SnapshotFixture.open(directory.bytes(writer.temporaryName)).count == 2)
  }

  @Test func anApplicationsFrameHasItsLimitsToo() throws {
    let kind = FrameKind(rawValue: 40)
    let records = try writer()
    expect(.closed) { try [UInt8(1)].withByteSpan { try records.appendApplicationFrame(kind, $0) } }
    records.cancel()
    records.cancel()
    #expect(directory.names == [])
    let frames = try writer(state: 7)
    expect(.closed) { try [UInt8(1)].withByteSpan { try frames.appendApplicationFrame(.put, $0) } }
    // Memory that is only counted, never read.
    let huge = UnsafeMutableRawBufferPointer.allocate(byteCount: Limits.batchBytes, alignment: 1)
    defer { unsafe huge.deallocate() }
    expect(.tooLarge) { try unsafe frames.appendApplicationFrame(kind, UnsafeRawBufferPointer(huge).bytes) }
    frames.cancel()
  }

  /// Entries that all go into one partition fill chunk after chunk of it; the table is the same as one made in memory.
  @Test func aFullPartitionOfTheKeyTableGoesThroughTheSpool() throws {
    func table(spooled: Bool) throws -> [UInt8] {
      let spool = spooled ? try TableSpool(directory, "tables") : nil
      var keys = KeyTableWriter()
      if let spool { try keys.spill(to: spool) }
      // The low bits spread over nothing but the tag: all have the same top bits, as many hashes of a real page do.
      for number in 0..<1500 { try keys.add(hash: 3 << 54 | UInt64(number) << 41 | UInt64(number), spool: spool) }
      let output = SnapshotOutput(MemoryFile("keys", []))
      try keys.write(to: output, codec: FrameCodec(salt: 1), spool: spool)
      spool?.remove()
      return output.buffer.lend(0..<output.buffer.count) { $0.array }
    }
    #expect(try table(spooled: true) == table(spooled: false))
    #expect(directory.names == [])
  }

  @Test func aSpoolThatLostItsBytesIsAReadError() throws {
    let spool = try TableSpool(directory, "tables")
    let buffer = ByteBuffer()
    buffer.append(UInt64(1))
    let place = try spool.append(buffer)
    let error = #expect(throws: StorageError.self) { try spool.read(place, count: 9, into: buffer) }
    #expect(error?.errno == StorageError.inputOutput)
    // It is gone already: nothing to complain of.
    try directory.remove("tables")
    spool.remove()
  }

  @Test func aSpoolThatCannotBeWrittenEndsTheSnapshot() throws {
    let writer = try writer { $0.entriesInMemory = 1 }
    try writer.append(TestRecord(key: [1], value: []))
    directory.faults.fail(call: 0, errno: 28, stays: true)
    // Until a chunk is full nothing is written.
    var thrown: LogStoreError?
    for number in 0..<20_000 where thrown == nil {
      do {
        try writer.append(
          TestRecord(key: [UInt8(truncatingIfNeeded: number), UInt8(number >> 8 & 0xFF), 3], value: []))
      } catch { thrown = error }
    }
    #expect(thrown?.code == .noSpace)
    expect(.closed) { try writer.append(TestRecord(key: [9], value: [])) }
    writer.cancel()
    #expect(directory.names == [])
  }

  /// Too little to be worth a block.
  @Test func aTinyRecordIsNotDeflated() throws {
    let writer = try writer { $0.compression = .deflate }
    let record = TestRecord(key: [1], value: [])
    try writer.append(record)
    _ = try writer.finish()
    let reader = try SnapshotFixture.open(directory.bytes(writer.temporaryName))
    #expect(try SnapshotFixture.sweep(reader) == [record])
  }

  /// The key of a long record stands in its last frame; where that is damaged, the record cannot be found.
  @Test func longRecordsAreFoundByTheirLastFrame() throws {
    let long = TestRecord(key: Array("long".utf8), value: [UInt8](repeating: 7, count: 300_000))
    for (partBytes, frames) in [(1 << 20, 1), (1 << 16, 5), (60, 5001)] {
      let writer = try writer { $0.partBytes = partBytes }
      try writer.append(long)
      _ = try writer.finish()
      var bytes = directory.bytes(writer.temporaryName)
      let places = try SnapshotDamageTests.frames(bytes)
      #expect(places.count == frames + 3)
      #expect(try SnapshotFixture.open(bytes).index(of: long.key) == 0)
      bytes[places[frames - 1].lowerBound + 9] ^= 1
      expect(.damaged) { _ = try SnapshotFixture.open(bytes).index(of: long.key) }
      // A length that leads nowhere.
      bytes[places[0].lowerBound + 2] ^= 0x0F
      expect(.damaged) { _ = try SnapshotFixture.open(bytes).index(of: long.key) }
      try directory.remove(writer.temporaryName)
    }
  }

  /// Two keys with one tag: chance, and no damage.
  @Test func aKeyIsToldFromAnotherOfItsTag() throws {
    let hasher = SipHash(k0: SnapshotFixture.header.salt, k1: SnapshotFixture.header.generation)
    var known: [UInt32: Int] = [:]
    var pair: (Int, Int)?
    for number in 0..<1_000_000 where pair == nil {
      let hash = Array("\(number)".utf8).withByteSpan { hasher.hash($0) }
      if let other = known.updateValue(number, forKey: UInt32(truncatingIfNeeded: hash)) { pair = (other, number) }
    }
    let (first, second) = try #require(pair)
    // In one frame, in a block, in parts.
    for (length, compression) in [(1, Compression.none), (1000, .deflate), (20_000, .none)] {
      var settings = SnapshotWriter.Settings()
      settings.compression = compression
      settings.partBytes = 15_000
      let records = [first, second].map {
        TestRecord(key: Array("\($0)".utf8), value: [UInt8](repeating: 1, count: length))
      }
      let reader = try SnapshotFixture.open(SnapshotFixture.write(records, settings: settings))
      #expect(try reader.index(of: records[1].key) == 1)
      #expect(try reader.find(records[1].key)?.index == 1)
      let alone = try SnapshotFixture.open(SnapshotFixture.write([records[0]], settings: settings))
      #expect(try alone.index(of: records[1].key) == nil && alone.find(records[1].key) == nil)
    }
  }

  @Test func aSweepStopsWhereItIsTold() throws {
    let records = SnapshotFixture.records(40) + [TestRecord(key: [1], value: [UInt8](repeating: 3, count: 900))]
    for compression in [Compression.none, .deflate] {
      var settings = SnapshotWriter.Settings()
      settings.compression = compression
      settings.partBytes = 64
      let reader = try SnapshotFixture.open(SnapshotFixture.write(records, settings: settings))
      for last in [0, 7, 40] {
        var seen = 0
        let isWhole = try reader.forEach(in: 0..<41) { _, _ in
          seen += 1
          return seen <= last
        }
        #expect(!isWhole && seen == last + 1)
      }
    }
  }

  /// Behind a damaged record whose place in the order table is damaged too, reading goes on at the next table frame's.
  @Test func damageInARecordAndItsPlaceCostsTheRecordsOfThatFrame() throws {
    var bytes = try SnapshotFixture.write(SnapshotFixture.records(400), losses: []).bytes(SnapshotFixture.name)
    let frames = try SnapshotDamageTests.frames(bytes)
    for frame in [150, 400 + 1] { bytes[frames[frame].lowerBound + 12] ^= 1 }
    let findings = try SnapshotFixture.open(bytes).verifyAll()
    #expect(findings.contains { $0.detail == "record 150 does not verify" })
    #expect(findings.contains { $0.detail.hasPrefix("the places of records 128 ") })
    #expect(findings.allSatisfy { ($0.range?.lowerBound ?? 0) >= UInt64(frames[150].lowerBound) })
  }

  @Test func aFileThatBecameShorterIsDamage() throws {
    let storage = SimulatedStorage(seed: 1)
    let page = try Page.fixture(storage, .create)
    for number in 0..<500 { try page.put("value \(number)", for: "\(number)", durability: .process) }
    try page.put([UInt8](repeating: 1, count: 20_000), for: "long")
    try page.compact(keep: Retention.none)
    try page.close()
    let reader = try Page.fixture(storage, .readOnly)
    let view = try reader.view()
    // What tells the places is known from here on.
    try view.forEach { _, _ in true }
    storage.edit(JournalFixture.directory + "/0000000001.snapshot") { $0 = Array($0[..<3000]) }
    for body in [
      { _ = try view.value(for: "499") }, { _ = try view.value(for: "long") }, { try view.forEach { _, _ in true } },
    ] {
      expect(.damaged, body)
    }
  }
}
