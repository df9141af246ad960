/// Opening, each time in a fresh process.
enum OpenWorkloads {
  static func all(_ scale: Scale) -> [Workload] {
    [journal(scale)] + [4, 5, 6].map { snapshot($0, scale) } + [overlay(scale), replay(scale)]
  }

  /// A journal that nothing was folded out of.
  private static func journal(_ scale: Scale) -> Workload {
    let count = scale(300_000, quick: 3000)
    return Workload(
      name: "open-journal",
      title: "open a journal of \(count) records of 100 B until the state is ready (LogStore: a view is taken), in a "
        + "fresh process; bare: read those bytes and compute their CRC",
      targets: [.atMost(4, of: Contestant.bare), .speed(15, of: RocksDBStore.name)],
      contestants: [bareJournal(count, Records())]
        + scale.stores.filter { $0 != LMDBStore.self }.map { kind in
          Contestant(name: kind.name) { scratch in
            let original = scratch.place("store")
            if kind == SQLiteStore.self {
              // Its log lives on only where nobody closes it, so a child fills it and just ends.
              _ = try Job.run(["fill", kind.name, original, String(count)])
            } else {
              let store = try kind.init(original, Setup(keepsJournal: true))
              try store.load(count)
              try store.close()
            }
            return Prepared { probe in
              if kind == LogStoreStore.self { return try Job.run(["state", kind.name, original], probe) }
              // The others fold their log when they open it, so each time it is a copy that they open.
              let copy = try scratch.copyDirectory(original, "copy")
              return try Job.run(["state", kind.name, copy], probe)
            }
          }
        })
  }

  /// A page that was compacted: one value is read.
  private static func snapshot(_ power: Int, _ scale: Scale) -> Workload {
    let count = min((0..<power).reduce(1) { total, _ in total * 10 }, scale(1_000_000, quick: 10_000))
    let others = scale.stores([SQLiteStore.self, LevelDBStore.self, RocksDBStore.self]).map { $0.name }
    return Workload(
      name: "open-1e\(power)",
      title: "open a compacted page of \(count) records of 100 B read-only and read one value, in a fresh process; "
        + "memory and allocations are those of a second opening, when the process has its code; "
        + "bare: open a file and read 4 pieces of it",
      targets: power < 6
        ? []
        : [.atMost(2, of: LMDBStore.name)] + others.map { .faster(than: $0) } + [.atMost(0x1p20, .addedMemory)],
      rounds: .init(repetition: scale(3, quick: 1)), point: PlotPoint(plot: .openingByRecords, x: Double(count)),
      contestants: [
        Contestant(name: Contestant.bare) { scratch in
          let file = try PlainFile.make(scratch.place("file"), bytes: 8 << 20)
          return Prepared { probe in try Job.run(["pieces", file.path], probe) }
        }
      ]
        + scale.stores.map { kind in
          Contestant(name: kind.name) { scratch in
            let path = scratch.place("store")
            try makeStore(kind, path, Setup(), count).close()
            var random = SplitMix(3)
            return Prepared { probe in
              try Job.run(["value", kind.name, path, String(Int.random(in: 0..<count, using: &random))], probe)
            }
          }
        })
  }

  /// What a changed record costs in memory until it is compacted.
  private static func overlay(_ scale: Scale) -> Workload {
    let size = scale(1_000_000, quick: 10_000)
    return Workload(
      name: "overlay",
      title:
        "put 100 B over half of \(size) compacted records in batches of 1000, sync, take a view: time a record, and "
        + "the memory that stays for each, less its key; in a fresh process",
      targets: [.atMost(64, .memoryPerRecord)], rounds: .init(most: 5), counts: .none,
      contestants: [
        Contestant(name: LogStoreStore.name) { scratch in
          let original = scratch.place("store")
          try makeStore(LogStoreStore.self, original, Setup(), size).close()
          return Prepared { probe in
            try Job.run(["overlay", try scratch.copyDirectory(original, "copy"), String(size)], probe)
          }
        }
      ])
  }

  /// A long journal: what replaying it takes in memory.
  private static func replay(_ scale: Scale) -> Workload {
    let records = Records(valueBytes: 1024)
    let bytes = scale(256 << 20, quick: 4 << 20, large: 4 << 30)
    let count = bytes / records.frameBytes
    let keys = scale(156_250, quick: 2000, large: 2_500_000)
    return Workload(
      name: "replay",
      title:
        "open a journal of \(byteText(Double(bytes))), \(count) puts of 1 KiB over \(keys) keys, and take a "
        + "view, in a fresh process; bare: read those bytes and compute their CRC",
      targets: [.atMost(0x1p28, .peakMemory)], rounds: .init(most: 5),
      contestants: [
        bareJournal(count, records),
        Contestant(name: LogStoreStore.name) { scratch in
          let path = scratch.place("store")
          let store = try LogStoreStore(path, Setup(keepsJournal: true))
          var random = SplitMix(13)
          for _ in 0..<count / 128 {
            let batch = (0..<128).map { _ in Records.key(Int.random(in: 0..<keys, using: &random)) }
            try store.putBatch(batch[...], records)
          }
          try store.close()
          return Prepared { probe in try Job.run(["state", LogStoreStore.name, path], probe) }
        },
      ])
  }

  private static func bareJournal(_ count: Int, _ records: Records) -> Contestant {
    Contestant(name: Contestant.bare) { scratch in
      let file = try PlainFile.make(scratch.place("file"), bytes: count * records.frameBytes)
      return Prepared { probe in try Job.run(["checksum", file.path], probe) }
    }
  }
}
