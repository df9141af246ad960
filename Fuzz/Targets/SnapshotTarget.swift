import LogStoreTesting

@testable import LogStore

extension FuzzTarget {
  /// A byte of choices, then a snapshot (with bit 0, its checksums are made to fit): reading it ends, in exact records or
  /// in an error; and one that verifies gives every record in every way.
  static let snapshot = FuzzTarget(name: "snapshot") { bytes in
    var input = InputBytes(bytes)
    let isResealed = input.byte() & 1 != 0
    let content = input.rest()
    let storage = SimulatedStorage(seed: 1)
    storage.makeDirectory("/page")
    storage.place(isResealed ? Resealing.reseal(content, isSnapshot: true) : content, at: "/page/snapshot")
    let generation = content.count >= 48 ? unsafe content.span.bytes.u64(40) : 0
    let error = try refusal {
      let file = try storage.openDirectory("/page", create: false).open("snapshot", .read)
      let reader = try SnapshotReader(
        file: file, name: "snapshot", path: "/page/snapshot", generation: generation, cacheBytes: 8 << 10)
      try read(reader)
    }
    guard let error else { return }
    try demand([.damaged, .foreignFile, .newerVersion].contains(error.code), "reading fails with \(error)")
  }

  private static func read(_ reader: SnapshotReader) throws {
    let findings = try reader.verifyAll()
    if findings.isEmpty {
      return reader.header.state == 0 ? try readWhole(reader) : try reader.applicationFrames { _, _ in }
    }
    // Damaged: each of these may fail, and none may trap or run on.
    func attempt(_ body: () throws -> Void) throws {
      guard let error = try refusal(body) else { return }
      try demand(error.code == .damaged, "reading fails with \(error)")
    }
    try attempt { _ = try reader.losses() }
    try attempt { try reader.applicationFrames { _, _ in } }
    try attempt { try reader.forEach(in: 0..<reader.count) { _, _ in true } }
    for index in 0..<min(reader.count, 32) {
      try attempt { _ = try reader.value(at: index) }
      try attempt {
        let key = try reader.key(at: index)
        _ = try unsafe reader.index(of: key.span.bytes)
      }
    }
  }

  private static func readWhole(_ reader: SnapshotReader) throws {
    _ = try reader.losses()
    var records: [Record] = []
    try reader.forEach(in: 0..<reader.count) { key, value in
      records.append(Record(key: key.array, value: value.array))
      return true
    }
    try demand(records.count == reader.count, "\(records.count) records of \(reader.count)")
    for (index, record) in records.enumerated() {
      try demand(reader.key(at: index) == record.key, "key \(index) differs")
      try demand(reader.value(at: index) == record.value, "value \(index) differs")
      try unsafe demand(reader.index(of: record.key.span.bytes) == index, "record \(index) is found elsewhere")
    }
  }
}
