/// One thread that writes, in a page of its own.
enum WriteWorkloads {
  /// One record of 100 B at a time, each durable before the next.
  static func power(_ scale: Scale) -> Workload {
    let count = scale(20, quick: 5)
    return Workload(
      name: "power",
      title: "put 100 B, each durable before the next; bare: write + fdatasync of the record's frame (127 B)",
      operations: count, targets: [Target(against: Contestant.bare, limit: 1.15)], repetition: scale(15, quick: 1)
    ) { scratch in
      let work = try Work(count: count, of: 1000)
      return try [bare(scratch, work, syncs: true)]
        + scale.stores.map { try contestant($0, scratch, work, Setup(durability: .power), prefill: 1000) }
    }
  }

  /// One record of 100 B at a time, safe from the process's end but not the machine's.
  static func process(_ scale: Scale) -> [Workload] {
    let short = scale(4000, quick: 500)
    let targets = [Target(against: Contestant.bare, limit: 1.5), .faster(than: LevelDBStore.name)]
    let pages = [("1e3", 1000), ("1e6", scale(1_000_000, quick: 10_000))]
    var workloads = pages.map { name, size in
      Workload(
        name: "process-\(name)",
        title: "put 100 B over a random record of \(size), not synced; bare: write of the record's frame (127 B)",
        operations: short, targets: targets, repetition: scale(10, quick: 1)
      ) { scratch in
        let work = try Work(count: short, of: size)
        return try [bare(scratch, work, syncs: false)]
          + scale.stores.map { try contestant($0, scratch, work, Setup(), prefill: size) }
      }
    }
    // Longer rounds, so that what is done from time to time is in each of them.
    let size = scale(100_000, quick: 1000)
    let count = scale(20_000, quick: 500)
    workloads.append(
      Workload(
        name: "process-view",
        title: "as process-1e3 over \(size) records, and LogStore takes a view after each \(count) puts",
        operations: count
      ) { scratch in
        let work = try Work(count: count, of: size)
        return try [bare(scratch, work, syncs: false)]
          + scale.stores.map { kind in
            if kind == LogStoreStore.self { return try viewing(scratch, work, prefill: size) }
            return try contestant(kind, scratch, work, Setup(), prefill: size)
          }
      })
    workloads.append(
      Workload(
        name: "process-compacting",
        title: "as process-1e3 over \(size) records, and LogStore compacts beside the writer by its default policy",
        operations: count
      ) { scratch in
        let work = try Work(count: count, of: size)
        return try [bare(scratch, work, syncs: false)]
          + scale.stores.map { try contestant($0, scratch, work, Setup(compactsByItself: true), prefill: size) }
      })
    return workloads
  }

  /// 100 records of 100 B in one batch.
  static func batches(_ scale: Scale) -> Workload {
    let batches = scale(40, quick: 5)
    return Workload(
      name: "batch-100",
      title: "100 records of 100 B in one batch, not synced, time a record; bare: one write of their frames (12,700 B)",
      operations: batches * 100, repetition: scale(10, quick: 1)
    ) { scratch in
      let work = try Work(count: batches * 100, of: 100_000)
      let file = try PlainFile(scratch.place("bare"))
      let frames = [UInt8](repeating: 0xA5, count: Records.frameBytes * 100)
      let bare = Contestant(name: Contestant.bare) {
        try time { for _ in 0..<batches { try frames.withUnsafeBytes { try file.append($0) } } }
      }
      return try [bare]
        + scale.stores.map { kind in
          let store = try kind.init(scratch.place(kind.name), Setup())
          return Contestant(name: kind.name) {
            try time {
              for batch in 0..<batches { try store.putBatch(work.keys[batch * 100..<batch * 100 + 100], work.records) }
            }
          } finish: {
            try store.close()
          }
        }
    }
  }

  // MARK: Contestants

  /// What is written, the same for all.
  private struct Work {
    let keys: [[UInt8]]
    let records = Records()

    init(count: Int, of total: Int) throws { keys = Records.randomKeys(count, of: total, seed: 7) }
  }

  private static func bare(_ scratch: Scratch, _ work: Work, syncs: Bool) throws -> Contestant {
    let file = try PlainFile(scratch.place("bare"))
    let frame = [UInt8](repeating: 0xA5, count: Records.frameBytes)
    return Contestant(name: Contestant.bare) {
      try frame.withUnsafeBytes { frame in
        try time {
          for _ in work.keys.indices {
            try file.append(frame)
            if syncs { try file.sync() }
          }
        }
      }
    }
  }

  private static func contestant(
    _ kind: any Store.Type, _ scratch: Scratch, _ work: Work, _ setup: Setup, prefill: Int
  ) throws -> Contestant {
    let store = try filled(kind, scratch, setup, prefill)
    return Contestant(name: kind.name) {
      try putAll(store, work)
    } finish: {
      try store.close()
    }
  }

  private static func viewing(_ scratch: Scratch, _ work: Work, prefill: Int) throws -> Contestant {
    guard let store = try filled(LogStoreStore.self, scratch, Setup(), prefill) as? LogStoreStore else {
      throw Failure("no view can be taken")
    }
    return Contestant(name: LogStoreStore.name) {
      try putAll(store, work) + time { try store.takeView() }
    } finish: {
      try store.close()
    }
  }

  private static func filled(
    _ kind: any Store.Type, _ scratch: Scratch, _ setup: Setup, _ prefill: Int
  ) throws -> any Store {
    var loading = setup
    loading.durability = .process
    loading.compactsByItself = false
    let loader = try kind.init(scratch.place(kind.name), loading)
    try loader.load(prefill)
    try loader.compact()
    try loader.close()
    return try kind.init(scratch.place(kind.name), setup)
  }

  private static func putAll(_ store: any Store, _ work: Work) throws -> UInt64 {
    try time {
      for (index, key) in work.keys.enumerated() { try store.put(key, work.records.value(index)) }
    }
  }
}
