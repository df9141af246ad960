import Testing

@testable import LogStore

@Suite struct SnapshotPartsTests {
  @Test(arguments: [0, 1, 50, 61, 62, 63, 64, 65, 126, 127, 128, 129, 1_000, 6_400])
  func valuesAroundThePartSize(length: Int) throws {
    var dice = Dice(UInt64(length))
    let records = [
      TestRecord(key: [1], value: [1, 2, 3]), TestRecord(key: [2], value: dice.bytes(length)),
      TestRecord(key: dice.bytes(40), value: dice.bytes(length)), TestRecord(key: [4], value: []),
    ]
    var settings = SnapshotWriter.Settings()
    settings.partBytes = 64
    let reader = try SnapshotFixture.open(SnapshotFixture.write(records, settings: settings))
    try SnapshotFixture.expect(reader, holds: records)
  }

  /// The same bytes whether a value comes whole or in pieces.
  @Test func pieces() throws {
    var dice = Dice(3)
    let record = TestRecord(key: [5, 6], value: dice.bytes(5_000))
    var settings = SnapshotWriter.Settings()
    settings.partBytes = 700
    let whole = try SnapshotFixture.write([record], settings: settings).bytes(SnapshotFixture.name)
    for size in [1, 7, 699, 700, 701, 5_000] {
      let directory = MemoryDirectory()
      let writer = try SnapshotWriter(
        directory: directory, name: SnapshotFixture.name, header: SnapshotFixture.header,
        losses: SnapshotFixture.losses, settings: settings)
      try record.key.withByteSpan { try writer.begin(key: $0, valueLength: record.value.count) }
      for start in stride(from: 0, to: record.value.count, by: size) {
        try record.value[start..<min(start + size, record.value.count)].withByteSpan { try writer.appendValue($0) }
      }
      try writer.end()
      _ = try writer.finish()
      #expect(directory.bytes(writer.temporaryName) == whole, "pieces of \(size)")
    }
  }

  @Test func aValueMustBeWhole() throws {
    let directory = MemoryDirectory()
    let writer = try SnapshotWriter(directory: directory, name: SnapshotFixture.name, header: SnapshotFixture.header)
    let key: [UInt8] = [1]
    try key.withByteSpan { try writer.begin(key: $0, valueLength: 2) }
    #expect(throws: LogStoreError.self) { try writer.end() }
    #expect(throws: LogStoreError.self) {
      try [UInt8](repeating: 0, count: 3).withByteSpan { try writer.appendValue($0) }
    }
    writer.cancel()
    #expect(directory.names == [])
  }

  /// A value of 65 MiB through a file of the file system.
  @Test func aLargeValue() throws {
    let folder = try TemporaryFolder()
    let directory = try FileSystemStorage().openDirectory(folder.path, create: false)
    let chunk = (0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
    let length = 65 << 20
    let writer = try SnapshotWriter(directory: directory, name: SnapshotFixture.name, header: SnapshotFixture.header)
    let key: [UInt8] = Array("large".utf8)
    try key.withByteSpan { try writer.begin(key: $0, valueLength: length) }
    for _ in 0..<65 { try chunk.withByteSpan { try writer.appendValue($0) } }
    try writer.end()
    try writer.append(TestRecord(key: [1], value: [2]))
    let size = try writer.finish()
    try directory.rename(writer.temporaryName, to: SnapshotFixture.name)
    #expect(try directory.list() == [SnapshotFixture.name])

    let file = try directory.open(SnapshotFixture.name, .read)
    let reader = try SnapshotReader(
      file: file, name: SnapshotFixture.name, path: folder.path, generation: 7, cacheBytes: 1 << 20)
    #expect(reader.size == size)
    #expect(try reader.index(of: key) == 0)
    #expect(try reader.key(at: 0) == key)
    let value = try reader.value(at: 0)
    #expect(value.count == length && Array(value[64 << 20..<65 << 20]) == chunk && value[1 << 20] == chunk[0])
    var sizes: [Int] = []
    try reader.forEach(in: 0..<2) { key, value in
      sizes.append(value.byteCount)
      return true
    }
    #expect(sizes == [length, 1])
  }

  @Test func applicationFrames() throws {
    var dice = Dice(4)
    let frames = [(32, 0), (63, 10), (40, 64), (41, 65), (40, 1_000), (33, 5)].map { kind, length in
      (FrameKind(rawValue: UInt8(kind)), dice.bytes(length))
    }
    var header = SnapshotFixture.header
    header.state = 77
    var settings = SnapshotWriter.Settings()
    settings.partBytes = 64
    let directory = MemoryDirectory()
    let writer = try SnapshotWriter(
      directory: directory, name: SnapshotFixture.name, header: header, settings: settings)
    for (kind, payload) in frames { try payload.withByteSpan { try writer.appendApplicationFrame(kind, $0) } }
    #expect(throws: LogStoreError.self) { try writer.append(TestRecord(key: [1], value: [])) }
    _ = try writer.finish()
    let reader = try SnapshotFixture.open(directory.bytes(writer.temporaryName))
    var found: [(FrameKind, [UInt8])] = []
    try reader.applicationFrames { found.append(($0, $1.array)) }
    #expect(found.map(\.0) == frames.map(\.0))
    #expect(found.map(\.1) == frames.map(\.1))
    #expect(reader.footer.count == 6 && reader.count == 0)
    #expect(try reader.verifyAll() == [])
    #expect(try reader.index(of: [1]) == nil)
  }
}
