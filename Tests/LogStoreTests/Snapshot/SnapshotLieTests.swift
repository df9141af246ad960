import Testing

@testable import LogStore

/// Snapshots whose checksums are right and whose frames do not belong together: every way of reading says so.
@Suite struct SnapshotLieTests {
  private static let state: UInt32 = 77

  /// A snapshot put together frame by frame.
  private struct Forgery {
    var header = SnapshotFixture.header
    var footer: SnapshotFooter?
    private let body = ByteBuffer()

    var end: UInt64 { UInt64(Limits.headerBytes + body.count) }

    @discardableResult
    func add(_ type: FrameType, _ payload: [UInt8]) -> SnapshotReader.Place {
      let offset = end
      let frame = body.openFrame()
      payload.withByteSpan { body.append($0) }
      body.sealFrame(frame, type, offset: offset, codec: FrameCodec(salt: header.salt))
      return SnapshotReader.Place(offset: offset, span: body.count - frame)
    }

    @discardableResult
    func record(_ key: String, _ value: String = "v") -> SnapshotReader.Place {
      add(FrameType(.record), JournalFixture.put(key, value))
    }

    /// Bytes that are no frame.
    func junk(_ count: Int) { for _ in 0..<count { body.append(UInt8(0)) } }

    /// Opens it, with the tables that fit the places (which may be lies), and keys found in no bucket but the ones given.
    func open(
      _ places: [SnapshotReader.Place], buckets: [[UInt32]] = [], count: Int? = nil, recordsAt: UInt64 = 128
    ) throws(LogStoreError) -> SnapshotReader {
      let orderOffset = end
      if header.state == 0 {
        let table = ByteBuffer()
        for place in places {
          table.append(place.offset)
          table.append(UInt32(place.span))
        }
        add(FrameType(.order), table.lend(0..<table.count) { $0.array })
      }
      let keysOffset = end
      for bucket in buckets {
        let table = ByteBuffer()
        for slot in 0..<256 { table.append(bucket.count == 256 ? bucket[slot] : slot < 128 ? 0 : .max) }
        add(FrameType(.keys), table.lend(0..<table.count) { $0.array })
      }
      let footer = ByteBuffer()
      SnapshotFooter(
        lsn: header.lsn, count: UInt64(count ?? places.count), recordsOffset: recordsAt, orderOffset: orderOffset,
        keysOffset: keysOffset, buckets: UInt64(buckets.count), checksum: 0
      ).append(to: footer)
      add(FrameType(.footer), footer.lend(0..<footer.count) { $0.array })
      let file = ByteBuffer()
      header.append(to: file)
      file.append(body, 0..<body.count)
      return try SnapshotFixture.open(file.lend(0..<file.count) { $0.array }, cacheBytes: 0)
    }
  }

  private static let empty: [[UInt32]] = [[]]

  private func expectDamage(_ body: () throws -> Void, sourceLocation: SourceLocation = #_sourceLocation) {
    let error = #expect(throws: LogStoreError.self, sourceLocation: sourceLocation) { try body() }
    #expect(error?.code == .damaged, "\(error?.message ?? "")", sourceLocation: sourceLocation)
  }

  @Test func aForgeryThatTellsTheTruthIsRead() throws {
    let forgery = Forgery()
    let places = [forgery.record("a"), forgery.record("b")]
    let reader = try forgery.open(places, buckets: SnapshotLieTests.empty)
    #expect(try SnapshotFixture.sweep(reader).map(\.key) == [[97], [98]])
  }

  @Test(arguments: [[], [1], [0, 0, 9], [9, 0, 9], [1, 0]])
  func aRecordThatIsNoneIsDamage(payload: [UInt8]) throws {
    let forgery = Forgery()
    let places = [forgery.record("a"), forgery.add(FrameType(.record), payload)]
    let reader = try forgery.open(places, buckets: SnapshotLieTests.empty)
    expectDamage { _ = try reader.value(at: 1) }
    expectDamage { _ = try SnapshotFixture.sweep(reader) }
    #expect(try reader.verifyAll().contains { $0.detail.hasPrefix("record 1 does not verify") })
  }

  /// Blocks that are too short, claim records that there are none of, or hold something else than records.
  @Test func aBlockThatIsNoneIsDamage() throws {
    func block(_ first: UInt64, _ records: UInt32, _ raw: [UInt8], claims length: Int? = nil) -> [UInt8] {
      let payload = ByteBuffer()
      payload.append(first)
      payload.append(records)
      payload.append(UInt32(length ?? raw.count))
      raw.withByteSpan { _ = Deflater().deflate($0, into: payload, limit: 4000) }
      return payload.lend(0..<payload.count) { $0.array }
    }
    let record: [UInt8] = [1, 0, 1, 0, 0, 0, 97, 118]
    for (payload, isGood) in [
      (block(0, 1, record), true), ([UInt8](repeating: 0, count: 16), false), (block(0, 0, record), false),
      (block(1, 1, record), false), (block(0, 2, record + record), false), (block(0, 1, record + [1]), false),
      (block(0, 1, [9] + record.dropFirst()), false), (block(0, 1, [0] + record.dropFirst()), false),
      (block(0, 1, Array(record.prefix(5)) + [0, 0]), false), (block(0, 1, record, claims: 6), false),
      (block(0, 1, record, claims: 2 << 20), false),
    ] {
      let forgery = Forgery()
      let places = [forgery.add(FrameType(.block), payload)]
      let reader = try forgery.open(places, buckets: SnapshotLieTests.empty)
      if isGood {
        #expect(try reader.value(at: 0) == [118])
      } else {
        expectDamage { _ = try reader.value(at: 0) }
        expectDamage { _ = try SnapshotFixture.sweep(reader) }
        #expect(try reader.verifyAll().contains { $0.detail.hasPrefix("record 0 does not verify") })
      }
    }
  }

  /// The first of two records leaves too few bytes for the other one's head.
  @Test func aBlockThatEndsInsideARecordIsDamage() throws {
    let forgery = Forgery()
    let payload = ByteBuffer()
    payload.append(UInt64(0))
    payload.append(UInt32(2))
    payload.append(UInt32(14))
    [1, 0, 3, 0, 0, 0, 97, 1, 1, 1, 0, 0, 0, 0].withByteSpan { _ = Deflater().deflate($0, into: payload, limit: 400) }
    let place = forgery.add(FrameType(.block), payload.lend(0..<payload.count) { $0.array })
    let reader = try forgery.open([place, place], buckets: SnapshotLieTests.empty)
    for index in 0..<2 { expectDamage { _ = try reader.value(at: index) } }
  }

  /// A long record's frames end a little in front of where the order table says that it ends.
  @Test func aLongRecordWithBytesBehindItsFramesIsDamage() throws {
    let forgery = Forgery()
    let first = forgery.add(FrameType(.part, last: false), [UInt8](repeating: 1, count: 300_000))
    forgery.junk(5)
    let reader = try forgery.open(
      [SnapshotReader.Place(offset: first.offset, span: first.span + 5)], buckets: SnapshotLieTests.empty)
    expectDamage { _ = try reader.key(at: 0) }
  }

  /// The order table gives a record the block of another one.
  @Test func aRecordThatIsNotInItsBlockIsDamage() throws {
    let forgery = Forgery()
    func block(_ first: UInt64, _ key: UInt8) -> SnapshotReader.Place {
      let payload = ByteBuffer()
      payload.append(first)
      payload.append(UInt32(1))
      payload.append(UInt32(8))
      [1, 0, 1, 0, 0, 0, key, 118].withByteSpan { _ = Deflater().deflate($0, into: payload, limit: 4000) }
      return forgery.add(FrameType(.block), payload.lend(0..<payload.count) { $0.array })
    }
    let places = [block(0, 97), block(1, 98)]
    let reader = try forgery.open([places[0], places[0]], buckets: SnapshotLieTests.empty)
    expectDamage { _ = try reader.value(at: 1) }
    let sweep = SnapshotSweep(reader)
    try sweep.forEach(in: 0..<1) { _, _ in true }
    expectDamage { try sweep.forEach(in: 1..<2) { _, _ in true } }
  }

  @Test func aRangeThatDoesNotEndWhereTheOrderTableSaysIsDamage() throws {
    let forgery = Forgery()
    let places = [forgery.record("a"), forgery.record("b")]
    let long = SnapshotReader.Place(offset: places[0].offset, span: places[0].span + places[1].span)
    let reader = try forgery.open([long, places[1]], buckets: SnapshotLieTests.empty)
    expectDamage { try reader.forEach(in: 0..<1) { _, _ in true } }
    #expect(try !reader.verifyAll().isEmpty)
  }

  @Test func aFrameOfAnotherKindAmongTheRecordsIsDamage() throws {
    for type in [FrameType(.order), FrameType(.record, first: false), FrameType(.block, last: false), FrameType(.part)]
    {
      let forgery = Forgery()
      let places = [forgery.add(type, [1, 0, 97])]
      let reader = try forgery.open(places, buckets: SnapshotLieTests.empty)
      expectDamage { _ = try reader.value(at: 0) }
      expectDamage { _ = try SnapshotFixture.sweep(reader) }
      #expect(try reader.verifyAll().contains { $0.detail.hasPrefix("record 0 does not verify") })
    }
  }

  /// In the middle of a value stands what is no part of one.
  @Test func aLongValueWithSomethingElseInItIsDamage() throws {
    for middle in [FrameType(.record, first: false, last: false), FrameType(.part, first: true, last: false)] {
      let forgery = Forgery()
      let first = forgery.add(FrameType(.part, last: false), [1, 2, 3])
      forgery.add(middle, [4, 5])
      let last = forgery.add(FrameType(.record, first: false), [1, 0, 97])
      let span = Int(last.offset - first.offset) + last.span
      let reader = try forgery.open(
        [SnapshotReader.Place(offset: first.offset, span: span)], buckets: SnapshotLieTests.empty)
      expectDamage { _ = try reader.value(at: 0) }
      expectDamage { _ = try SnapshotFixture.sweep(reader) }
    }
  }

  @Test func fewerRecordsThanTheTablesSayIsDamage() throws {
    let forgery = Forgery()
    let place = forgery.record("a")
    let reader = try forgery.open([place, place], buckets: SnapshotLieTests.empty)
    #expect(try reader.verifyAll().contains { $0.detail == "there are 1 records, not 2" })
  }

  @Test func moreRecordsThanTheTablesSayIsDamage() throws {
    let forgery = Forgery()
    let place = forgery.record("a")
    forgery.record("b")
    let reader = try forgery.open([place], buckets: SnapshotLieTests.empty)
    #expect(try reader.verifyAll().contains { $0.detail.hasPrefix("record 1 does not verify") })
    #expect(try SnapshotFixture.sweep(reader).map(\.key) == [[97]])
  }

  @Test func bytesThatAreNoFrameAmongTheLossesAreReportedToTheSectionsEnd() throws {
    let forgery = Forgery()
    forgery.junk(5)
    let place = forgery.record("a")
    let reader = try forgery.open([place], buckets: SnapshotLieTests.empty, recordsAt: 133)
    expectDamage { _ = try reader.losses() }
    #expect(try reader.verifyAll().contains { $0.range == 128..<133 })
  }

  /// A search that finds every slot taken has been everywhere in the end.
  @Test func aKeyTableWithoutAnEndIsSearchedOnce() throws {
    let forgery = Forgery()
    let place = forgery.record("a")
    let full = [UInt32](repeating: 1, count: 128) + [UInt32](repeating: 0, count: 128)
    let reader = try forgery.open([place], buckets: [full])
    #expect(try reader.index(of: Array("b".utf8)) == nil)
    #expect(try reader.verifyAll().contains { $0.detail == "the key table holds 128 records, not 1" })
    expectDamage {
      let impossible = [UInt32](repeating: 1, count: 128) + [UInt32](repeating: 9, count: 128)
      let reader = try forgery.open([place, place], buckets: [impossible])
      var candidates = SnapshotReader.Candidates(1, buckets: 1)
      _ = try candidates.next(reader)
    }
  }

  /// An empty slot has the tag 0, and so may a key.
  @Test func aTagOfZeroFindsNoEmptySlot() throws {
    let forgery = Forgery()
    let place = forgery.record("a")
    let reader = try forgery.open([place], buckets: SnapshotLieTests.empty)
    var candidates = SnapshotReader.Candidates(0, buckets: 1)
    #expect(try candidates.next(reader) == nil)
  }

  @Test func aHeaderThatVerifiesAndCannotBeIsDamaged() {
    func decode(_ change: (inout SnapshotHeader) -> Void) -> SnapshotHeader.Decoded {
      var header = SnapshotFixture.header
      change(&header)
      let buffer = ByteBuffer()
      header.append(to: buffer)
      return buffer.lend(0..<buffer.count) { SnapshotHeader.decode($0, generation: 7) }
    }
    #expect(decode { _ in } == .header(SnapshotFixture.header))
    guard case .damaged = decode({ $0.generation = 8 }), case .damaged = decode({ $0.lsn = Limits.lsn + 1 }) else {
      Issue.record("an impossible header is taken for good")
      return
    }
  }

  /// Frames of an application's state: what is no such frame, or is none too many or too few, is damage.
  @Test func anApplicationsStateThatIsNotWholeIsDamage() throws {
    let frame = FrameType(FrameKind(rawValue: 40))
    func check(_ count: Int, _ build: (Forgery) -> Void) throws -> Bool {
      var forgery = Forgery()
      forgery.header.state = SnapshotLieTests.state
      build(forgery)
      let reader = try forgery.open([], count: count)
      let findings = try reader.verifyAll().filter { !$0.detail.hasPrefix("the checksum") }
      do {
        try reader.applicationFrames { _, _ in }
      } catch let error as LogStoreError {
        #expect(error.code == .damaged && !findings.isEmpty)
        return false
      }
      #expect(findings.isEmpty)
      return true
    }
    #expect(try check(1) { $0.add(frame, [1]) })
    #expect(
      try check(1) { forgery in
        forgery.add(FrameType(.part, last: false), [1])
        forgery.add(FrameType(FrameKind(rawValue: 40), first: false), [1])
      })
    #expect(try !check(2) { $0.add(frame, [1]) })
    #expect(try !check(1) { $0.add(FrameType(.record), [1, 0, 9]) })
    #expect(try !check(1) { $0.junk(20) })
    #expect(try !check(1) { $0.add(FrameType(.part, last: false), [1]) })
    #expect(
      try !check(1) { forgery in
        forgery.add(FrameType(.part, last: false), [1])
        forgery.add(FrameType(.record, first: false), [1])
      })
    var forgery = Forgery()
    forgery.header.state = SnapshotLieTests.state
    expectDamage { _ = try forgery.open([], buckets: SnapshotLieTests.empty, count: 0) }
  }
}
