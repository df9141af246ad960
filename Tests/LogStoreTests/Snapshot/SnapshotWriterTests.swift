import Testing

@testable import LogStore

@Suite struct SnapshotWriterTests {
  /// The same file whether the tables were made in memory or through the second temporary file.
  @Test(arguments: [Compression.none, .deflate])
  func spooledTablesAreTheSame(compression: Compression) throws {
    let records = SnapshotFixture.records(20_000)
    var settings = SnapshotWriter.Settings()
    settings.compression = compression
    let inMemory = try SnapshotFixture.write(records, settings: settings).bytes(SnapshotFixture.name)
    for bound in [1, 1_000, 19_999] {
      settings.entriesInMemory = bound
      let directory = try SnapshotFixture.write(records, settings: settings)
      #expect(directory.bytes(SnapshotFixture.name) == inMemory, "\(bound) in memory")
      #expect(directory.names == [SnapshotFixture.name])
    }
  }

  /// Buckets that overflow, also past the end of the table and over several buckets.
  @Test func overflowingBuckets() throws {
    let buckets: UInt64 = 5
    var entries: [KeyEntry] = []
    var dice = Dice(11)
    // Bucket 4 gets 300, bucket 1 gets 130: both overflow, the former around the end.
    for (bucket, count) in [(UInt64(4), 300), (1, 130), (2, 10)] {
      for _ in 0..<count {
        var hash = dice.next()
        while SnapshotLayout.bucket(hash, of: buckets) != bucket { hash = dice.next() }
        entries.append(KeyEntry(hash: hash, index: 0))
      }
    }
    entries.shuffle(using: &dice)
    for index in entries.indices { entries[index].index = UInt32(index) }
    let sorted = KeyEntry.sorted(entries, buckets: buckets, in: 0..<buckets)
    let output = SnapshotOutput(MemoryFile("keys", []))
    var lap = BucketFiller(buckets: buckets)
    for entry in sorted { try lap.add(entry, to: nil) }
    try lap.finish(to: nil)
    var filler = BucketFiller(buckets: buckets, after: lap)
    for entry in sorted { try filler.add(entry, to: (output, FrameCodec(salt: 1))) }
    try filler.finish(to: (output, FrameCodec(salt: 1)))
    #expect(output.buffer.count == 5 * SnapshotLayout.bucketFrameBytes)

    let table = output.buffer.lend(0..<output.buffer.count) { $0.array }
    func slot(_ bucket: Int, _ slot: Int) -> (tag: UInt32, index: UInt32) {
      let at = bucket * SnapshotLayout.bucketFrameBytes + 9 + slot * 4
      return (table.u32(at), table.u32(at + 512))
    }
    for entry in entries {
      var bucket = Int(SnapshotLayout.bucket(entry.hash, of: buckets))
      var isFound = false
      for _ in 0..<5 where !isFound {
        isFound = (0..<128).contains { slot(bucket, $0) == (UInt32(truncatingIfNeeded: entry.hash), entry.index) }
        if slot(bucket, 127).index == .max { break }
        bucket = (bucket + 1) % 5
      }
      #expect(isFound, "record \(entry.index)")
    }
    let taken = (0..<5).reduce(0) { sum, bucket in sum + (0..<128).count { slot(bucket, $0).index != .max } }
    #expect(taken == entries.count)
  }

  /// Keys chosen so that the last of four buckets overflows, around the end, and so does the second.
  @Test func overflowingBucketsAreSearched() throws {
    let hasher = SipHash(k0: SnapshotFixture.header.salt, k1: SnapshotFixture.header.generation)
    var room = [0, 150, 0, 234]
    var records: [TestRecord] = []
    var number = 0
    while records.count < 384 {
      let key = Array("\(number)".utf8)
      number += 1
      let bucket = Int(SnapshotLayout.bucket(key.withByteSpan { hasher.hash($0) }, of: 4))
      guard room[bucket] > 0 else { continue }
      room[bucket] -= 1
      records.append(TestRecord(key: key, value: [UInt8(bucket)]))
    }
    var settings = SnapshotWriter.Settings()
    let directory = try SnapshotFixture.write(records, settings: settings)
    let reader = try SnapshotFixture.open(directory)
    #expect(reader.footer.buckets == 4)
    try SnapshotFixture.expect(reader, holds: records)
    settings.entriesInMemory = 10
    let spooled = try SnapshotFixture.write(records, settings: settings)
    #expect(spooled.bytes(SnapshotFixture.name) == directory.bytes(SnapshotFixture.name))
    // Where a bucket that others overflow into does not verify, it is reported, and not each record that may stand there.
    var bytes = directory.bytes(SnapshotFixture.name)
    bytes[Int(reader.footer.keysOffset) + 20] ^= 1
    let findings = try SnapshotFixture.open(bytes).verifyAll().map(\.detail)
    #expect(findings == ["a bucket of the key table does not verify", "the checksum of the whole file does not match"])
  }

  /// Each call fails once, or from then on: an error, and after `cancel` nothing is left.
  @Test(arguments: [(Int32(28), LogStoreError.Code.noSpace), (5, .io)], [false, true])
  func everyCallFails(_ failure: (errno: Int32, code: LogStoreError.Code), stays: Bool) throws {
    var records = SnapshotFixture.records(9_000)
    records.append(TestRecord(key: [1], value: [UInt8](repeating: 3, count: 300_000)))
    var settings = SnapshotWriter.Settings()
    settings.entriesInMemory = 100
    settings.partBytes = 1 << 16
    let calls = try SnapshotFixture.write(records, settings: settings).faults.calls.count
    // Some calls are of one sort in a long row.
    for call in 0..<calls where call < 12 || call > calls - 12 || call % 97 == 0 {
      let directory = MemoryDirectory()
      directory.faults.fail(call: call, errno: failure.errno, stays: stays)
      let error = #expect(throws: LogStoreError.self, "call \(call)") {
        try SnapshotFixture.write(records, to: directory, settings: settings)
      }
      #expect(error?.code == failure.code, "call \(call)")
      #expect(directory.names == [], "call \(call)")
    }
  }

  @Test func whatDoesNotReadBackIsRefused() throws {
    let directory = MemoryDirectory()
    let writer = try SnapshotWriter(directory: directory, name: SnapshotFixture.name, header: SnapshotFixture.header)
    for record in SnapshotFixture.records(10_000) { try writer.append(record) }
    // The first part is on the medium already; it rots before the rest comes.
    let file = try directory.open(writer.temporaryName, .readWrite)
    var byte: UInt8 = 0xFF
    _ = try unsafe withUnsafeBytes(of: &byte) { try unsafe file.write($0, at: 1_000) }
    let error = #expect(throws: LogStoreError.self) { try writer.finish() }
    #expect(error?.code == .damaged)
    writer.cancel()
    #expect(directory.names == [])
  }

  @Test func filesThatACrashLeftAreReplaced() throws {
    let directory = MemoryDirectory()
    directory.put(SnapshotFixture.name + ".tmp", [1, 2, 3])
    directory.put(SnapshotFixture.name + ".tables.tmp", [1, 2, 3])
    var settings = SnapshotWriter.Settings()
    settings.entriesInMemory = 10
    try SnapshotFixture.write(SnapshotFixture.records(50), to: directory, settings: settings)
    #expect(directory.names == [SnapshotFixture.name])
  }

  @Test func cancellingWhileReadingBack() throws {
    let directory = MemoryDirectory()
    let writer = try SnapshotWriter(directory: directory, name: SnapshotFixture.name, header: SnapshotFixture.header)
    for record in SnapshotFixture.records(100) { try writer.append(record) }
    let error = #expect(throws: LogStoreError.self) { try writer.finish(progress: { _ in false }) }
    #expect(error?.code == .cancelled)
    writer.cancel()
    #expect(directory.names == [])
  }
}
