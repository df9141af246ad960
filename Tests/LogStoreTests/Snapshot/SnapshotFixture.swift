import Testing

@testable import LogStore

struct TestRecord: Equatable {
  var key: [UInt8]
  var value: [UInt8]
}

/// Repeatable pseudo-random numbers.
struct Dice: RandomNumberGenerator {
  private var state: UInt64
  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var word = state
    word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
    return word ^ (word >> 31)
  }

  mutating func bytes(_ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    for at in bytes.indices { bytes[at] = UInt8(truncatingIfNeeded: next()) }
    return bytes
  }
}

enum SnapshotFixture {
  static let name = "0000000007.snapshot"

  static let header = SnapshotHeader(
    id: PageID(high: 0x0011_2233_4455_6677, low: 0x8899_AABB_CCDD_EEFF), generation: 7, salt: 0x5EED_5A17_0123_4567,
    lsn: 4711, journalSalt: 99, time: 1_700_000_000_000_000_000)

  static let losses = [
    LossRecord(generation: 3, salt: 5, start: 200, end: 300, lsn: 17, count: 2),
    LossRecord(generation: 4, salt: 6, start: 128, end: 1 << 40, lsn: 99, count: 1),
  ]

  /// Records that deflate well.
  static func records(_ count: Int) -> [TestRecord] {
    (0..<count).map { number in
      TestRecord(key: Array("key \(number)".utf8), value: Array("the value of number \(number), and again".utf8))
    }
  }

  /// Writes under the temporary name and renames.
  @discardableResult
  static func write(
    _ records: [TestRecord], to directory: MemoryDirectory = MemoryDirectory(),
    losses: [LossRecord] = SnapshotFixture.losses, settings: SnapshotWriter.Settings = .init()
  ) throws -> MemoryDirectory {
    let writer = try SnapshotWriter(
      directory: directory, name: name, header: header, losses: losses, settings: settings)
    do {
      for record in records { try writer.append(record) }
      let size = try writer.finish()
      try directory.rename(writer.temporaryName, to: name)
      #expect(directory.bytes(name).count == Int(size))
    } catch {
      writer.cancel()
      throw error
    }
    return directory
  }

  static func open(_ bytes: [UInt8], cacheBytes: Int = 1 << 20) throws(LogStoreError) -> SnapshotReader {
    try SnapshotReader(
      file: MemoryFile(name, bytes), name: name, path: "/memory/" + name, generation: 7, cacheBytes: cacheBytes)
  }

  static func open(_ directory: MemoryDirectory, cacheBytes: Int = 1 << 20) throws -> SnapshotReader {
    try open(directory.bytes(name), cacheBytes: cacheBytes)
  }

  /// Everything that a sweep gives.
  static func sweep(_ reader: SnapshotReader, _ range: Range<Int>? = nil) throws -> [TestRecord] {
    var found: [TestRecord] = []
    try reader.forEach(in: range ?? 0..<reader.count) { key, value in
      found.append(TestRecord(key: key.array, value: value.array))
      return true
    }
    return found
  }

  /// Checks that the snapshot gives exactly the records, in every way of asking.
  static func expect(
    _ reader: SnapshotReader, holds records: [TestRecord], each step: Int = 1,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    #expect(reader.count == records.count, sourceLocation: sourceLocation)
    #expect(reader.header == header, sourceLocation: sourceLocation)
    #expect(try sweep(reader) == records, sourceLocation: sourceLocation)
    for index in stride(from: 0, to: records.count, by: step) {
      let record = records[index]
      let found = try reader.find(record.key)
      guard try reader.index(of: record.key) == index, try reader.key(at: index) == record.key,
        try reader.value(at: index) == record.value, found?.index == index, found?.value == record.value,
        try reader.withRecord(at: index, { $0.array == record.key && $1.array == record.value })
      else {
        Issue.record("record \(index) is not what was written", sourceLocation: sourceLocation)
        return
      }
    }
    #expect(try reader.index(of: Array("no such key".utf8)) == nil, sourceLocation: sourceLocation)
    #expect(try reader.index(of: []) == nil, sourceLocation: sourceLocation)
    #expect(try reader.verifyAll() == [], sourceLocation: sourceLocation)
  }
}

extension SnapshotWriter {
  func append(_ record: TestRecord) throws(LogStoreError) {
    try record.key.withByteSpan { (key: RawSpan) throws(LogStoreError) in
      try record.value.withByteSpan { (value: RawSpan) throws(LogStoreError) in
        try append(key: key, value: value)
      }
    }
  }
}

extension SnapshotReader {
  func index(of key: [UInt8]) throws(LogStoreError) -> Int? {
    try key.withByteSpan { (key: RawSpan) throws(LogStoreError) in try index(of: key) }
  }

  func find(_ key: [UInt8]) throws(LogStoreError) -> (index: Int, value: [UInt8])? {
    try key.withByteSpan { (key: RawSpan) throws(LogStoreError) in try find(key) }
  }
}
