import Testing

@testable import LogStore

/// Buckets of the key table as they are kept: nothing that they lead to is believed, nothing that is there is missed.
struct PackedBucketTests {
  private static let slots = SnapshotLayout.bucketSlots
  private static let hasher = SipHash(k0: SnapshotFixture.header.salt, k1: SnapshotFixture.header.generation)

  private func hash(_ key: [UInt8]) -> UInt64 { key.withByteSpan { Self.hasher.hash($0) } }

  private func bucket(_ tags: [UInt32], _ indices: [UInt32]) -> [UInt8] {
    let buffer = ByteBuffer()
    for slot in 0..<Self.slots { buffer.append(slot < tags.count ? tags[slot] : 0) }
    for slot in 0..<Self.slots { buffer.append(slot < indices.count ? indices[slot] : SnapshotLayout.emptySlot) }
    return buffer.lend(0..<buffer.count) { $0.array }
  }

  private func all(_ matches: SnapshotBucket.Matches) -> [UInt32] {
    var matches = matches
    var found: [UInt32] = []
    while let index = matches.popFirst() { found.append(index) }
    return found
  }

  @Test(arguments: [60, 1 << 24, 1 << 24 + 1, 1 << 31 - 1])
  func aSearchComesToAllOfItsTagAndOfHalfOfIt(count: Int) throws {
    var dice = Dice(UInt64(count))
    for taken in [0, 1, 2, 15, 16, 17, 96, 127, 128] {
      for _ in 0..<100 {
        let tags = (0..<taken).map { _ in UInt32.random(in: 0..<40, using: &dice) << 13 }
        let indices = (0..<taken).map { _ in UInt32(Int.random(in: 0..<count, using: &dice)) }
        let packed = try #require(bucket(tags, indices).withByteSpan { PackedBucket.pack($0, count: count) })
        #expect(packed.count == 4 + taken * (count <= 1 << 24 ? 5 : 6))
        for tag in (0..<40).map({ UInt32($0) << 13 }) {
          let matches = packed.withByteSpan { PackedBucket.matches(tag, in: $0) }
          #expect(matches.goesOn == (taken == Self.slots))
          let expected = zip(tags, indices).filter { $0.0 & 0xFFFF == tag & 0xFFFF }.map(\.1)
          #expect(all(matches) == expected)
        }
      }
    }
  }

  /// Each of them is a lie, which every search has to see as it stands.
  @Test func whatNoWriterMakesIsNotPacked() {
    for (tags, indices) in [
      ([1, 2], [0, 9]), ([1, 0, 3], [0, SnapshotLayout.emptySlot, 1]), ([1, 2], [0]),
    ] as [([UInt32], [UInt32])] {
      #expect(bucket(tags, indices).withByteSpan { PackedBucket.pack($0, count: 9) } == nil)
    }
  }

  /// A key that shares half a tag with a record's, in the one bucket that there is.
  private func double(of key: [UInt8]) -> [UInt8] {
    let tag = UInt32(truncatingIfNeeded: hash(key))
    for number in 0... {
      let other = Array("double \(number)".utf8)
      let found = UInt32(truncatingIfNeeded: hash(other))
      if found != tag, found & 0xFFFF == tag & 0xFFFF { return other }
    }
    return []
  }

  @Test(arguments: [Compression.none, .deflate])
  func aKeyThatSharesHalfATagWithARecordIsNotThere(compression: Compression) throws {
    let records = SnapshotFixture.records(90)
    var settings = SnapshotWriter.Settings()
    settings.compression = compression
    let reader = try SnapshotFixture.open(SnapshotFixture.write(records, settings: settings))
    for record in records[..<9] {
      let other = double(of: record.key)
      for _ in 0..<3 { #expect(try reader.index(of: other) == nil && reader.find(other) == nil) }
    }
  }

  @Test func recordsThatShareHalfATagAreToldApart() throws {
    let first = Array("one".utf8)
    let pairs = [first, double(of: first)]
    for keys in [pairs, pairs.reversed()] {
      let records = keys.enumerated().map { TestRecord(key: $1, value: [UInt8($0)]) }
      let reader = try SnapshotFixture.open(SnapshotFixture.write(records))
      for _ in 0..<3 { try SnapshotFixture.expect(reader, holds: records) }
    }
  }

  /// What is kept of the bucket leads to the damaged record, and the bucket does not.
  @Test func damageInARecordThatSharesHalfATagHarmsNoOther() throws {
    let first = Array("one".utf8)
    let records = [first, double(of: first)].map { TestRecord(key: $0, value: [1, 2, 3]) }
    var bytes = try SnapshotFixture.write(records, losses: []).bytes(SnapshotFixture.name)
    bytes[try SnapshotDamageTests.frames(bytes)[0].lowerBound + 12] ^= 1
    let reader = try SnapshotFixture.open(bytes)
    for _ in 0..<3 {
      #expect(try reader.index(of: records[1].key) == 1 && reader.find(records[1].key)?.value == [1, 2, 3])
      let error = #expect(throws: LogStoreError.self) { try reader.find(first) }
      #expect(error?.code == .damaged)
    }
  }

  /// The table gives a key the record of another one, and is believed no more when it is kept than when it is read.
  @Test func aLieStaysOneWhereItIsKept() throws {
    let keys = ["a", "b"].map { Array($0.utf8) }
    let records = keys.map { TestRecord(key: $0, value: []) }
    var bytes = try SnapshotFixture.write(records, losses: []).bytes(SnapshotFixture.name)
    let frame = try SnapshotDamageTests.frames(bytes)[3]
    // The indices change places.
    let indices = frame.lowerBound + Limits.frameOverhead + 4 * Self.slots
    bytes[indices] ^= 1
    bytes[indices + 4] ^= 1
    SnapshotDamageTests.seal(&bytes, frame)
    let reader = try SnapshotFixture.open(bytes)
    for key in keys + keys + keys {
      for body in [{ _ = try reader.find(key) }, { _ = try reader.index(of: key) }] {
        let error = #expect(throws: LogStoreError.self) { try body() }
        #expect(error?.code == .damaged && error?.message.contains("a key that it does not have") == true)
      }
    }
  }

  /// With 14 bytes of cache a record, once all that is asked for has come in.
  @Test func aLookUpReadsTheFileOnce() throws {
    let records = (0..<20_000).map { TestRecord(key: Array("\($0)".utf8), value: [UInt8(truncatingIfNeeded: $0)]) }
    let directory = try SnapshotFixture.write(records)
    let reader = try SnapshotReader(
      file: directory.open(SnapshotFixture.name, .read), name: SnapshotFixture.name, path: "/memory/file",
      generation: 7, cacheBytes: 280_000)
    var reads = 0
    for _ in 0..<3 {
      let before = directory.faults.calls.count
      for record in records { #expect(try reader.find(record.key)?.value == record.value) }
      reads = directory.faults.calls.count - before
    }
    // Some share half a tag with another one.
    #expect((20_000..<20_200).contains(reads))
  }
}
