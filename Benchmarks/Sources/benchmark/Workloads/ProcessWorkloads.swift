/// Records of 100 B, one a batch, safe from the process's end but not the machine's; one thread.
enum ProcessWorkloads {
  static func all(_ scale: Scale) -> [Workload] {
    sizes(scale) + [flat(scale), growing(scale), viewing(scale), compacting(scale)]
  }

  /// Over pages of several sizes.
  private static func sizes(_ scale: Scale) -> [Workload] {
    let count = scale(4000, quick: 500)
    return [3, 4, 5, 6].map { power in
      let size = min((0..<power).reduce(1) { total, _ in total * 10 }, scale(1_000_000, quick: 10_000))
      return Workload(
        name: "process-1e\(power)",
        title: "put 100 B over a random record of \(size), not synced; bare: write of the record's frame (127 B)",
        targets: [.atMost(1.2, of: Contestant.bare), .atMost(0.5, of: LevelDBStore.name)],
        rounds: .init(repetition: scale(power % 3 == 0 ? 10 : 3, quick: 1)), latencies: .apart,
        point: PlotPoint(plot: .putsByRecords, x: Double(size)),
        contestants: [WriteWork.bare(count, syncs: false)]
          + scale.stores.map { WriteWork.contestant($0, Setup(), count, of: size) })
    }
  }

  /// A large page beside a small one.
  private static func flat(_ scale: Scale) -> Workload {
    let count = scale(4000, quick: 500)
    let size = scale(1_000_000, quick: 10_000, large: 10_000_000)
    return Workload(
      name: "process-flat",
      title: "put 100 B over a random record of \(size); reference: the same over one of 1000",
      targets: [.atMost(1.1, of: Contestant.reference)], rounds: .init(repetition: scale(10, quick: 1)), counts: .none,
      contestants: [
        WriteWork.contestant(LogStoreStore.self, Setup(), count, of: size),
        WriteWork.contestant(LogStoreStore.self, name: Contestant.reference, Setup(), count, of: 1000),
      ])
  }

  /// Long enough for everything that happens from time to time.
  private static func growing(_ scale: Scale) -> Workload {
    let count = scale(1_000_000, quick: 10_000, large: 10_000_000)
    return Workload(
      name: "process-growing",
      title: "put \(count) new records of 100 B into an empty page; the longest is the median over the rounds; "
        + "bare: write of the frames (127 B)",
      targets: [.atMost(1.2, of: Contestant.bare), .atMost(5e6, .longest)], rounds: .init(most: 5), latencies: .timed,
      counts: .withoutCalls,
      contestants: [
        Contestant(name: Contestant.bare) { scratch in
          let frame = [UInt8](repeating: 0xA5, count: Records().frameBytes)
          return Prepared { probe in
            Scratch.remove(scratch.place("file"))
            let file = try PlainFile(scratch.place("file"))
            return try frame.withUnsafeBytes { frame in
              try probe.observeEach(0..<count) { _ in try file.append(frame) }
            }
          }
        },
        Contestant(name: LogStoreStore.name) { scratch in
          let records = Records()
          return Prepared { probe in
            Scratch.remove(scratch.place("store"))
            let store = try LogStoreStore(scratch.place("store"), Setup())
            var key = Records.key(0)
            let sample = try probe.observeEach(0..<count) { index in
              Records.increment(&key)
              try store.put(key, records.value(index))
            }
            try store.close()
            return sample
          }
        },
      ])
  }

  /// Rounds in which LogStore takes in what was written.
  private static func viewing(_ scale: Scale) -> Workload {
    let (count, size) = longRounds(scale)
    return Workload(
      name: "process-view",
      title: "as process-1e3 over \(size) records, and LogStore takes a view after each \(count) puts",
      contestants: [WriteWork.bare(count, syncs: false)]
        + scale.stores.map { kind in
          guard kind == LogStoreStore.self else { return WriteWork.contestant(kind, Setup(), count, of: size) }
          return Contestant(name: kind.name) { scratch in
            let work = WriteWork(count, of: size)
            let store = try makeStore(kind, scratch.place("store"), Setup(), size)
            return Prepared { probe in
              try probe.observe(count) {
                for index in 0..<count { try work.put(index, in: store) }
                try (store as? LogStoreStore)?.takeView()
              }
            } finish: {
              try store.close()
            }
          }
        })
  }

  private static func compacting(_ scale: Scale) -> Workload {
    let (count, size) = longRounds(scale)
    return Workload(
      name: "process-compacting",
      title: "as process-1e3 over \(size) records, and LogStore compacts beside the writer by its default policy",
      latencies: .apart,
      contestants: [WriteWork.bare(count, syncs: false)]
        + scale.stores.map { WriteWork.contestant($0, Setup(compactsByItself: true), count, of: size) })
  }

  /// So that what is done from time to time is in each of them.
  private static func longRounds(_ scale: Scale) -> (count: Int, size: Int) {
    (scale(20_000, quick: 500), scale(100_000, quick: 1000))
  }
}
