import Glibc

/// Opening, each time in a process of its own.
enum OpenWorkloads {
  static func all(_ scale: Scale) -> [Workload] { [journal(scale), snapshot(scale)] }

  /// A journal that nothing was folded out of.
  private static func journal(_ scale: Scale) -> Workload {
    let count = scale(300_000, quick: 3000)
    return Workload(
      name: "open-journal",
      title:
        "open a journal of \(count) records of 100 B until the state is ready (LogStore: a view is taken), in a fresh process; "
        + "bare: read those bytes and compute their CRC",
      operations: 1, targets: [Target(against: RocksDBStore.name, limit: 0.2)]
    ) { scratch in
      let path = scratch.place(LogStoreStore.name)
      try fill(LogStoreStore.self, path, count, Setup(keepsJournal: true), compacts: false)
      let peers = scale.stores.filter { $0 != LogStoreStore.self && $0 != LMDBStore.self }
      return try [
        Contestant(name: Contestant.bare) { try Child.run(["checksum", path + "/0000000000.journal"]) },
        Contestant(name: LogStoreStore.name) { try Child.run(["state", LogStoreStore.name, path]) },
      ]
        + peers.map { kind in
          let original = scratch.place(kind.name)
          try fill(kind, original, count, Setup(keepsJournal: true), compacts: false)
          return Contestant(name: kind.name) {
            // They fold their log when they open it, so each time it is a copy that they open.
            let copy = try scratch.copyDirectory(original, kind.name + "-copy")
            return try Child.run(["state", kind.name, copy])
          }
        }
    }
  }

  /// A page that was compacted: one value is read.
  private static func snapshot(_ scale: Scale) -> Workload {
    let count = scale(1_000_000, quick: 10_000)
    return Workload(
      name: "open-snapshot",
      title: "open a compacted page of \(count) records of 100 B read-only and read one value, in a fresh process; "
        + "bare: open a file and read 4 pieces of it",
      operations: 1, targets: [.faster(than: SQLiteStore.name)], repetition: scale(3, quick: 1)
    ) { scratch in
      let file = scratch.place("bare")
      let plain = try PlainFile(file)
      let piece = [UInt8](repeating: 1, count: 1 << 20)
      for _ in 0..<8 { try piece.withUnsafeBytes { try plain.append($0) } }
      return try [Contestant(name: Contestant.bare) { try Child.run(["pieces", file]) }]
        + scale.stores.map { kind in
          let path = scratch.place(kind.name)
          try fill(kind, path, count, Setup(), compacts: true)
          var random = SplitMix(3)
          return Contestant(name: kind.name) {
            try Child.run(["value", kind.name, path, String(Int.random(in: 0..<count, using: &random))])
          }
        }
    }
  }

  private static func fill(
    _ kind: any Store.Type, _ path: String, _ count: Int, _ setup: Setup, compacts: Bool
  ) throws {
    if setup.keepsJournal, kind == SQLiteStore.self {
      // Its log lives on only where nobody closes it, so a child fills it and just ends.
      _ = try Child.run(["fill", kind.name, path, String(count)])
      return
    }
    let store = try kind.init(path, setup)
    try store.load(count)
    if compacts { try store.compact() }
    try store.close()
  }
}

/// What the child processes do.
enum OpenJobs {
  /// Times what makes a store, not its end.
  private static func timeOpening(_ body: () throws -> any Store) throws -> UInt64 {
    var opened: (any Store)?
    let elapsed = try time { opened = try body() }
    return withExtendedLifetime(opened) { elapsed }
  }

  static func run(_ words: [String]) throws -> UInt64 {
    guard words.count >= 2 else { throw Failure("a child needs a job and a path") }
    switch words[0] {
    case "checksum":
      return try time { _ = try PlainFile(words[1], flags: O_RDONLY).checksum() }
    case "pieces":
      return try time {
        let file = try PlainFile(words[1], flags: O_RDONLY)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 2048, alignment: 16)
        defer { buffer.deallocate() }
        for piece in 1...4 { _ = try file.read(into: buffer, at: piece << 20) }
      }
    case "state":
      let kind = try store(named: words[1])
      return try timeOpening {
        let store = try kind.init(words[2], Setup(keepsJournal: true))
        if let logStore = store as? LogStoreStore {
          try logStore.takeView()
        } else {
          guard try store.get(Records.key(1)) == Records.valueBytes else { throw Failure("the record is not there") }
        }
        return store
      }
    case "value":
      let kind = try store(named: words[1])
      guard words.count == 4, let index = Int(words[3]) else { throw Failure("which record?") }
      let key = Records.key(index)
      return try timeOpening {
        let store = try kind.init(words[2], Setup(isReadOnly: true))
        guard try store.get(key) == Records.valueBytes else { throw Failure("the record is not there") }
        return store
      }
    case "fill":
      guard words.count >= 4, let count = Int(words[3]) else { throw Failure("how many records?") }
      let kind = try store(named: words[1])
      let store = try kind.init(words[2], Setup(keepsJournal: true))
      try store.load(count)
      if words.count > 4 { try store.compact() }
      // Closing would fold SQLite's log.
      if kind != SQLiteStore.self { try store.close() }
      say(0)
      _exit(0)
    default: throw Failure("no job is called \(words[0])")
    }
  }
}
