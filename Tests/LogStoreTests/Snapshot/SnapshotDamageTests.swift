import Testing

@testable import LogStore

/// Whatever happens to a snapshot's bytes: exact data or an error, never wrong data.
@Suite struct SnapshotDamageTests {
  static let records = [
    TestRecord(key: [1], value: []), TestRecord(key: Array("two".utf8), value: Array("dos".utf8)),
    TestRecord(key: Array("long".utf8), value: [UInt8](repeating: 7, count: 40)),
    TestRecord(key: Array("last".utf8), value: [0]),
  ]

  static func bytes(_ compression: Compression) throws -> [UInt8] {
    var settings = SnapshotWriter.Settings()
    settings.partBytes = 20
    settings.compression = compression
    let losses = [SnapshotFixture.losses[0]]
    return try SnapshotFixture.write(records, losses: losses, settings: settings).bytes(SnapshotFixture.name)
  }

  /// Nil if reading fails with an error of one of the codes that damage may have; otherwise what was read.
  private func tolerant<Result>(_ what: String, _ body: () throws -> Result) -> Result? {
    do { return try body() } catch let error as LogStoreError {
      #expect([.damaged, .foreignFile, .newerVersion].contains(error.code), "\(what): \(error)")
      #expect(error.path != nil)
    } catch {
      Issue.record("\(what): \(error)")
    }
    return nil
  }

  /// Reads everything; anything that is not an error must be right.
  private func check(_ bytes: [UInt8], _ what: String) {
    guard let reader = tolerant(what, { try SnapshotFixture.open(bytes) }) else { return }
    let records = SnapshotDamageTests.records
    #expect(reader.header == SnapshotFixture.header && reader.count == records.count, "\(what)")
    if let losses = tolerant(what, { try reader.losses() }) { #expect(losses == [SnapshotFixture.losses[0]]) }
    if let swept = tolerant(what, { try SnapshotFixture.sweep(reader) }) { #expect(swept == records, "\(what)") }
    for (index, record) in records.enumerated() {
      if let value = tolerant(what, { try reader.value(at: index) }) { #expect(value == record.value, "\(what)") }
      if let key = tolerant(what, { try reader.key(at: index) }) { #expect(key == record.key, "\(what)") }
      if let found = tolerant(what, { try reader.find(record.key) ?? (-1, []) }) {
        #expect(found.index == index && found.value == record.value, "\(what)")
      }
    }
    if let absent = tolerant(what, { try reader.index(of: [9, 9]) ?? -1 }) { #expect(absent == -1, "\(what)") }
    if let findings = tolerant(what, { try reader.verifyAll() }) {
      #expect(!findings.isEmpty, "\(what)")
      #expect(findings.allSatisfy { ($0.range?.upperBound ?? .max) <= reader.size }, "\(what)")
    }
  }

  /// Flips in the unused part of the one bucket are all alike: there one bit of each byte is enough.
  @Test(arguments: [Compression.none, .deflate])
  func everyBit(compression: Compression) throws {
    let bytes = try SnapshotDamageTests.bytes(compression)
    let footer = try SnapshotFixture.open(bytes).footer
    let keys = Int(footer.keysOffset)
    for offset in bytes.indices {
      let isUnused = offset > keys + 40 && offset < keys + 1033 && !(keys + 520..<keys + 540).contains(offset)
      for bit in 0..<(isUnused ? 1 : 8) {
        var damaged = bytes
        damaged[offset] ^= 1 << (isUnused ? offset % 8 : bit)
        check(damaged, "bit \(bit) of byte \(offset)")
      }
    }
  }

  @Test(arguments: [Compression.none, .deflate])
  func everyTruncation(compression: Compression) throws {
    let bytes = try SnapshotDamageTests.bytes(compression)
    for length in bytes.indices {
      #expect(throws: LogStoreError.self, "\(length) bytes") { try SnapshotFixture.open(Array(bytes[..<length])) }
    }
    #expect(throws: LogStoreError.self) { try SnapshotFixture.open(bytes + [0]) }
  }

  /// Bytes that lie under checksums that are right: no trap, no endless search, no unbounded memory.
  @Test(arguments: [Compression.none, .deflate])
  func liesThatVerify(compression: Compression) throws {
    let bytes = try SnapshotDamageTests.bytes(compression)
    let starts = try SnapshotDamageTests.frames(bytes)
    var dice = Dice(9)
    let words: [UInt64] = [0, 1, 2, 127, 128, 200, 1 << 31, 0xFFFF_FFFF, 1 << 32, 1 << 62, .max, .max - 8]
    for round in 0..<1_500 {
      var lying = bytes
      let frame = starts[Int(dice.next() % UInt64(starts.count))]
      let place = frame.lowerBound + 9 + Int(dice.next() % UInt64(max(frame.count - 9, 1)))
      let word = round % 2 == 0 ? words[Int(dice.next() % UInt64(words.count))] : dice.next()
      let size = [1, 2, 4, 8][Int(dice.next() % 4)]
      for at in 0..<size where place + at < frame.upperBound {
        lying[place + at] = UInt8(truncatingIfNeeded: word >> UInt64(8 * at))
      }
      SnapshotDamageTests.seal(&lying, frame)
      guard let reader = tolerant("lie", { try SnapshotFixture.open(lying) }) else { continue }
      _ = tolerant("lie", { try reader.losses() })
      _ = tolerant("lie", { try SnapshotFixture.sweep(reader) })
      for index in 0..<min(reader.count, 6) {
        _ = tolerant("lie", { try reader.value(at: index) })
        _ = tolerant("lie", { try reader.key(at: index) })
      }
      for record in SnapshotDamageTests.records { _ = tolerant("lie", { try reader.find(record.key) }) }
      // The footer's reserved bytes may be anything.
      if lying.dropLast(4) == bytes.dropLast(4) || frame == starts.last { continue }
      if let findings = tolerant("lie", { try reader.verifyAll() }) { #expect(!findings.isEmpty) }
    }
  }

  /// Where the frames of a whole snapshot are.
  static func frames(_ bytes: [UInt8]) throws -> [Range<Int>] {
    var frames: [Range<Int>] = []
    var offset = Limits.headerBytes
    while offset < bytes.count {
      let end = offset + Limits.frameOverhead + Int(bytes.u32(offset))
      frames.append(offset..<end)
      offset = end
    }
    return frames
  }

  static func seal(_ bytes: inout [UInt8], _ frame: Range<Int>) {
    let codec = FrameCodec(salt: SnapshotFixture.header.salt)
    let buffer = ByteBuffer()
    let start = buffer.openFrame()
    bytes.lend(frame.lowerBound + 9..<frame.upperBound) { buffer.append($0) }
    buffer.sealFrame(
      start, FrameType(rawValue: bytes[frame.lowerBound + 8]), offset: UInt64(frame.lowerBound), codec: codec)
    bytes.replaceSubrange(frame, with: buffer.lend(0..<buffer.count) { $0.array })
  }

  /// Verification goes on behind damage and names the frames concerned.
  @Test func everyDamageIsFound() throws {
    let records = SnapshotFixture.records(1_000)
    var bytes = try SnapshotFixture.write(records).bytes(SnapshotFixture.name)
    let frames = try SnapshotDamageTests.frames(bytes)
    // A recorded loss, three records (one by its length), an order frame, a bucket.
    let chosen = [0, 7, 8, 600, 2 + 1_000 + 3, 2 + 1_000 + 8 + 5]
    for number in chosen { bytes[frames[number].lowerBound + (number == 600 ? 1 : 12)] ^= 0x10 }
    let reader = try SnapshotFixture.open(bytes)
    let findings = try reader.verifyAll()
    let starts = Set(findings.compactMap { $0.range?.lowerBound })
    #expect(starts == Set(chosen.map { UInt64(frames[$0].lowerBound) } + [reader.footerOffset]))
    // Everything else can still be read.
    for index in [0, 4, 7, 300, 597, 599] { #expect(try reader.value(at: index) == records[index].value) }
    let error = #expect(throws: LogStoreError.self) { try reader.value(at: 5) }
    let frame = frames[7]
    #expect(error?.offset == UInt64(frame.lowerBound))
    #expect(
      try reader.damagedRange(at: UInt64(frame.lowerBound)) == UInt64(frame.lowerBound)..<UInt64(frame.upperBound))
    #expect(try reader.damagedRange(at: reader.footerOffset) == reader.footerOffset..<reader.size)
    #expect(try SnapshotFixture.sweep(reader, 10..<300) == Array(records[10..<300]))
  }

  @Test(arguments: [7, 10, 15, 21, 27, 31] as [UInt8])
  func aNewerVersionIsNotDamage(kind: UInt8) throws {
    var bytes = try SnapshotDamageTests.bytes(.none)
    let frame = try SnapshotDamageTests.frames(bytes)[1]
    bytes[frame.lowerBound + 8] = 0xC0 | kind
    SnapshotDamageTests.seal(&bytes, frame)
    let reader = try SnapshotFixture.open(bytes)
    for body in [
      { _ = try reader.value(at: 0) }, { _ = try reader.verifyAll() }, { _ = try SnapshotFixture.sweep(reader) },
    ] {
      let error = #expect(throws: LogStoreError.self, performing: body)
      #expect(error?.code == .newerVersion)
    }
  }

  @Test func theSameKeyTwiceIsFound() throws {
    let twice = SnapshotFixture.records(300) + [SnapshotFixture.records(300)[17]]
    let reader = try SnapshotFixture.open(SnapshotFixture.write(twice))
    #expect(try reader.verifyAll().map(\.detail) == ["records 17 and 300 have the same key"])
  }

  @Test func readErrorsAreErrors() throws {
    let directory = try SnapshotFixture.write(SnapshotFixture.records(500))
    let bytes = directory.bytes(SnapshotFixture.name)
    for (errno, code) in [(Int32(5), LogStoreError.Code.io), (13, .unavailable)] {
      for call in 0..<12 {
        let faults = FaultPlan()
        faults.fail(call: call, errno: errno, stays: true)
        let file = MemoryFile("file", bytes, faults)
        let error = #expect(throws: LogStoreError.self) {
          let reader = try SnapshotReader(file: file, name: "file", path: "file", generation: 7, cacheBytes: 0)
          for index in 0..<5 { _ = try reader.value(at: index) }
          _ = try reader.verifyAll()
          _ = try SnapshotFixture.sweep(reader)
          _ = try reader.find(Array("key 77".utf8))
        }
        #expect(error?.code == code)
      }
    }
  }
}
