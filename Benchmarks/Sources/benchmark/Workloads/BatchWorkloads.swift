/// Many records in one batch, which for SQLite and LMDB is one transaction.
enum BatchWorkloads {
  static func all(_ scale: Scale) -> [Workload] { [small(scale), large(scale)] }

  private static func small(_ scale: Scale) -> Workload {
    let count = scale(40, quick: 5)
    return Workload(
      name: "batch-100",
      title: "100 records of 100 B in one batch, not synced, time a record; bare: one write of their frames (12,700 B)",
      targets: [.atMost(1.6, of: Contestant.bare), .atMost(0.1, of: SQLiteStore.name)],
      rounds: .init(repetition: scale(10, quick: 1)), latencies: .apart,
      contestants: [WriteWork.bare(count, group: 100, syncs: false)]
        + scale.stores.map { kind in
          Contestant(name: kind.name) { scratch in
            let keys = Records.randomKeys(count * 100, of: 100_000, seed: 7)
            let records = Records()
            let store = try kind.init(scratch.place("store"), Setup())
            return Prepared { probe in
              try probe.observeEach(0..<count, operations: 100) { batch in
                try store.putBatch(keys[batch * 100..<batch * 100 + 100], records)
              }
            } finish: {
              try store.close()
            }
          }
        })
  }

  private static func large(_ scale: Scale) -> Workload {
    let valueBytes = 40_800
    return Workload(
      name: "batch-large",
      title: "100 values of 40,800 B in one durable batch, time a batch; bare: write + fdatasync of their frames",
      targets: [.atMost(1.2, of: Contestant.bare), .atMost(0.5, of: SQLiteStore.name)],
      rounds: .init(repetition: scale(3, quick: 1)), latencies: .timed,
      contestants: [
        Contestant(name: Contestant.bare) { scratch in
          let file = try PlainFile(scratch.place("file"))
          let frames = [UInt8](repeating: 0xA5, count: Records(valueBytes: valueBytes).frameBytes * 100)
          return Prepared { probe in
            try frames.withUnsafeBytes { frames in
              try probe.observeEach(0..<1) { _ in
                try file.append(frames)
                try file.sync()
              }
            }
          }
        }
      ]
        + scale.stores.map { kind in
          Contestant(name: kind.name) { scratch in
            let keys = (0..<100).map { Records.key($0) }
            let records = Records(valueBytes: valueBytes)
            let store = try kind.init(scratch.place("store"), Setup(durability: .power, valueBytes: valueBytes))
            return Prepared { probe in
              try probe.observeEach(0..<1) { _ in try store.putBatch(keys[...], records) }
            } finish: {
              try store.close()
            }
          }
        })
  }
}
