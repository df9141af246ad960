import Testing

@testable import LogStore

/// Going over the key table, compared with a search for one record after another.
struct KeyCheckTests {
  /// What is found with so many records at once; with none, each is searched for.
  private func findings(_ reader: SnapshotReader, _ hashes: [UInt64?], batch: Int?) throws -> [Finding] {
    var check = KeyCheck(reader, batch: batch ?? .max)
    var findings: [Finding] = []
    for (index, hash) in hashes.enumerated() {
      guard let hash else { continue }
      if check.isFull(for: index) { findings += try check.checkAll() }
      check.add(index, hash)
    }
    return findings + (batch == nil ? try check.finish() : try check.checkAll())
  }

  private func hashes(_ reader: SnapshotReader, _ records: [TestRecord]) -> [UInt64?] {
    records.map { $0.key.withByteSpan { reader.hash($0) } }
  }

  /// Entries of the key table are changed at random, so that some records are not given any more and some buckets have
  /// empty slots where no writer leaves them.
  @Test func whatTheTableDoesNotGiveIsFoundAsByASearch() throws {
    var dice = Dice(1)
    let records = SnapshotFixture.records(700)
    let whole = try SnapshotFixture.write(records + [records[3], records[500]]).bytes(SnapshotFixture.name)
    let frames = try SnapshotDamageTests.frames(whole).dropLast().suffix(8)
    var details: Set<String> = []
    for round in 0..<60 {
      var bytes = whole
      for _ in 0..<(round % 8) {
        let frame = try #require(frames.randomElement(using: &dice))
        let slot = Int.random(in: 0..<100, using: &dice)
        let tag = frame.lowerBound + Limits.frameOverhead + 4 * slot
        let index = tag + 4 * SnapshotLayout.bucketSlots
        switch Int.random(in: 0..<4, using: &dice) {
        case 0: bytes[tag] ^= 1
        case 1: bytes[index] ^= 1
        case 2: for byte in 0..<4 { bytes[index + byte] = 0xFF }
        default:
          for byte in 0..<4 {
            bytes.swapAt(tag + byte, tag + byte - 4 * min(slot, 1))
            bytes.swapAt(index + byte, index + byte - 4 * min(slot, 1))
          }
        }
        if Int.random(in: 0..<8, using: &dice) > 0 { SnapshotDamageTests.seal(&bytes, frame) }
      }
      let reader = try SnapshotFixture.open(bytes)
      var hashes = hashes(reader, records + [records[3], records[500]])
      // Records that do not verify.
      if round % 3 == 0 { for _ in 0..<20 { hashes[Int.random(in: 0..<702, using: &dice)] = nil } }
      if round % 5 == 0 { for index in 100..<400 { hashes[index] = nil } }
      let expected = try findings(reader, hashes, batch: nil)
      details.formUnion(expected.map { String($0.detail.prefix(7)) })
      #expect(try findings(reader, hashes, batch: .max) == expected)
      for batch in [1, 10, 64, 300] {
        let found = try findings(reader, hashes, batch: batch)
        #expect(Set(found) == Set(expected) && found.count == expected.count)
      }
    }
    #expect(details == ["records", "the key"])
  }

  /// A bucket that is so full that some of its records are in the next one, and the last one's in the first.
  @Test func recordsInAnotherBucketAreGiven() throws {
    let hasher = SipHash(k0: SnapshotFixture.header.salt, k1: SnapshotFixture.header.generation)
    for home in [UInt64(0), 1] {
      var records: [TestRecord] = []
      var number = 0
      while records.count < 190 {
        number += 1
        let key = Array("key \(number)".utf8)
        let isAtHome = SnapshotLayout.bucket(key.withByteSpan { hasher.hash($0) }, of: 2) == home
        if isAtHome || records.count < 30 { records.append(TestRecord(key: key, value: [])) }
      }
      let reader = try SnapshotFixture.open(SnapshotFixture.write(records))
      #expect(reader.footer.buckets == 2)
      try SnapshotFixture.expect(reader, holds: records)
      let hashes = hashes(reader, records)
      for batch in [nil, 7, 1000] { #expect(try findings(reader, hashes, batch: batch).isEmpty) }
    }
  }

  @Test func twoRecordsOfOneKeyAreFoundAcrossBatches() throws {
    let records = SnapshotFixture.records(25)
    let twice = records + [records[3]]
    let reader = try SnapshotFixture.open(SnapshotFixture.write(twice))
    for batch in [nil, 1, 10, 100] {
      let found = try findings(reader, hashes(reader, twice), batch: batch)
      #expect(found.map(\.detail) == ["records 3 and 25 have the same key"])
    }
  }

  /// The hash of a key may be any number.
  @Test func aHashOfZeroIsSearchedFor() throws {
    let records = SnapshotFixture.records(3)
    let reader = try SnapshotFixture.open(SnapshotFixture.write(records))
    var hashes = hashes(reader, records)
    hashes[1] = 0
    let found = try findings(reader, hashes, batch: 10)
    #expect(found.map(\.detail) == ["the key table does not give record 1"])
  }
}
