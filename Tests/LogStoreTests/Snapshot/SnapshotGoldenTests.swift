import Testing

@testable import LogStore

/// The snapshots of the golden pages, which another writer made from the specification alone.
@Suite struct SnapshotGoldenTests {
  static let folder =
    #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
    + "/Conformance/golden/"

  private func open(_ page: String) throws -> SnapshotReader {
    let directory = try FileSystemStorage().openDirectory(SnapshotGoldenTests.folder + page, create: false)
    let name = "0000000001.snapshot"
    let file = try directory.open(name, .read)
    return try SnapshotReader(file: file, name: name, path: name, generation: 1, cacheBytes: 1 << 16)
  }

  @Test(arguments: ["snapshot-raw", "snapshot-deflated", "snapshot-parts", "snapshot-many", "snapshot-of-nothing"])
  func wholeOnesAreRead(page: String) throws {
    let reader = try open(page)
    #expect(try reader.verifyAll() == [])
    let swept = try SnapshotFixture.sweep(reader)
    #expect(swept.count == reader.count)
    for (index, record) in swept.enumerated() {
      #expect(try reader.index(of: record.key) == index)
      #expect(try reader.value(at: index) == record.value)
    }
  }

  @Test(arguments: ["block", "keys", "loss-frame", "order", "order-length", "record", "record-length"])
  func damageIsFound(what: String) throws {
    let reader = try open("snapshot-damage-" + what)
    #expect(try !reader.verifyAll().isEmpty)
  }

  @Test(arguments: ["footer", "header", "truncated"])
  func damagedOnesDoNotOpen(what: String) {
    let error = #expect(throws: LogStoreError.self) { try open("snapshot-damage-" + what) }
    #expect(error?.code == .damaged || what == "header" && error?.code == .foreignFile)
  }

  /// The same records give the same bytes here.
  @Test(arguments: ["snapshot-raw", "snapshot-of-nothing"])
  func writesTheSameBytes(page: String) throws {
    let reader = try open(page)
    let directory = MemoryDirectory()
    let writer = try SnapshotWriter(
      directory: directory, name: "0000000001.snapshot", header: reader.header, losses: reader.losses())
    for record in try SnapshotFixture.sweep(reader) { try writer.append(record) }
    _ = try writer.finish()
    #expect(try directory.bytes(writer.temporaryName) == reader.source.bytes(at: 0, count: Int(reader.size)))
  }
}
