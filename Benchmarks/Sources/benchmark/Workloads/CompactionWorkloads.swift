import LogStore

/// Folding what was written into the form that is read best.
enum CompactionWorkloads {
  static func all(_ scale: Scale) -> [Workload] {
    let peersToo = compaction("compact", scale, scale(128 << 20, quick: 2 << 20), scale.stores)
    let deflated = compaction(
      "compact-deflated", scale, size(scale), scale.stores([LogStoreStore.self]), deflated: true)
    let writers = [writing(scale, .process), writing(scale, .power)]
    guard scale.size == .large else { return [peersToo, deflated] + writers }
    let large = compaction("compact-large", scale, size(scale), scale.stores([LogStoreStore.self]))
    return [peersToo, large, deflated] + writers
  }

  private static func size(_ scale: Scale) -> Int { scale(128 << 20, quick: 2 << 20, large: 1 << 30) }

  private static func compaction(
    _ name: String, _ scale: Scale, _ bytes: Int, _ kinds: [any Store.Type], deflated: Bool = false
  ) -> Workload {
    let records = Records(deflated ? .text : .random, valueBytes: 1024)
    let count = bytes / records.frameBytes
    let changes = count / 100
    return Workload(
      name: name,
      title:
        "compact a page of \(byteText(Double(bytes))), records of 1 KiB, of which each hundredth was changed"
        + (deflated ? ", deflating compressible data" : "; SQLite: VACUUM + checkpoint, LMDB: compact copy")
        + "; bare: copy those bytes and sync",
      targets: [.speed(deflated ? 0.35 : 0.6, of: Contestant.bare), .atMost(0x1p26, .addedMemory)],
      rounds: .init(most: scale(Int.max, quick: 1, large: 5)),
      contestants: [
        Contestant(name: Contestant.bare) { scratch in
          let file = try PlainFile.make(scratch.place("file"), bytes: bytes)
          try file.sync()
          return Prepared { probe in
            let copy = scratch.place("copy")
            defer { Scratch.remove(copy) }
            return try probe.observe { try PlainFile.copy(file.path, to: copy) }
          }
        }
      ]
        + kinds.map { kind in
          Contestant(name: kind.name) { scratch in
            let store = try makeStore(kind, scratch.place("store"), Setup(compresses: deflated), count, records)
            var random = SplitMix(17)
            return Prepared { probe in
              let keys = (0..<changes).map { _ in Records.key(Int.random(in: 0..<count, using: &random)) }
              try store.putBatch(keys[...], records)
              // LMDB's earlier copy.
              Scratch.remove(scratch.place("store.copy"))
              return try probe.observe { try store.compact() }
            } finish: {
              try store.close()
            }
          }
        })
  }

  // MARK: Writers meanwhile

  private static func writing(_ scale: Scale, _ durability: Setup.Durability) -> Workload {
    let bytes = size(scale)
    let records = Records(valueBytes: 1024)
    let count = bytes / records.frameBytes
    let isPower = durability == .power
    return Workload(
      name: isPower ? "compact-power" : "compact-process",
      title: "put 100 B\(isPower ? " durably" : ", not synced,") while LogStore compacts a page of "
        + "\(byteText(Double(bytes))); reference: the same while nobody compacts; bare: write"
        + "\(isPower ? " + fdatasync" : "") of the frame while those bytes are copied and synced",
      targets: [.atMost(3, of: Contestant.reference, .p99)], rounds: .init(most: 5), latencies: .timed, counts: .none,
      contestants: [
        Contestant(name: Contestant.bare) { scratch in
          let source = try PlainFile.make(scratch.place("source"), bytes: bytes)
          try source.sync()
          let (from, to) = (source.path, scratch.place("copy"))
          let file = try PlainFile(scratch.place("file"))
          let frame = [UInt8](repeating: 0xA5, count: Records().frameBytes)
          return Prepared { _ in
            defer { Scratch.remove(to) }
            return try put(during: { try PlainFile.copy(from, to: to) }) { _ in
              try frame.withUnsafeBytes { try file.append($0) }
              if isPower { try file.sync() }
            }
          }
        },
        Contestant(name: LogStoreStore.name) { scratch in
          let work = WriteWork(4096, of: count)
          let store = try page(scratch, durability, count, records)
          let page = store.page
          return Prepared { _ in
            try put(during: { try page.compact(keep: Retention.none) }) { try work.put($0 & 4095, in: store) }
          } finish: {
            try store.close()
          }
        },
        Contestant(name: Contestant.reference) { scratch in
          let work = WriteWork(isPower ? scale(200, quick: 10) : scale(40_000, quick: 1000), of: count)
          let store = try page(scratch, durability, count, records)
          return Prepared { probe in
            try probe.observeEach(work.keys.indices) { try work.put($0, in: store) }
          } finish: {
            try store.close()
          }
        },
      ])
  }

  private static func page(
    _ scratch: Scratch, _ durability: Setup.Durability, _ count: Int, _ records: Records
  ) throws -> LogStoreStore {
    let store = try makeStore(
      LogStoreStore.self, scratch.place("store"), Setup(durability: durability), count, records)
    guard let store = store as? LogStoreStore else { throw Failure("no page") }
    return store
  }

  /// Puts one record after another for as long as `work` takes in a thread of its own.
  private static func put(during work: @escaping @Sendable () throws -> Void, _ put: (Int) throws -> Void) throws
    -> Sample
  {
    let isDone = Locked(false)
    let worker = try Threads(1) { _ in
      defer { isDone.withLock { $0 = true } }
      try work()
    }
    let histogram = LatencyHistogram()
    var count = 0
    worker.start()
    let start = nanoseconds()
    // At least some, so that there is a figure where the work is short.
    while count < 16 || !isDone.withLock({ $0 }) {
      try histogram.recordEach(count..<count + 1, put)
      count += 1
    }
    var sample = Sample.time(nanoseconds() - start, count)
    try worker.join()
    sample.latencies = histogram
    return sample
  }
}
