/// How much is written for what is put.
enum AmplificationWorkload {
  static func make(_ scale: Scale) -> Workload {
    let count = scale(1_000_000, quick: 10_000)
    let size = scale(100_000, quick: 1000)
    return Workload(
      name: "amplification",
      title:
        "put \(count) records of 100 B over random ones of \(size), not synced, compacting by the default policy, and "
        + "close: time a put, and bytes written, by all threads, for each byte of key and value",
      targets: [.atMost(2.5, .amplification)], rounds: .init(most: 1, warmsUp: false), counts: .none,
      contestants: scale.stores.map { kind in
        Contestant(name: kind.name) { scratch in
          let records = Records()
          let store = try makeStore(kind, scratch.place("store"), Setup(compactsByItself: true), size)
          var random = SplitMix(19)
          return Prepared { _ in
            let before = try WrittenBytes.now()
            let elapsed = try timed {
              for index in 0..<count {
                try store.put(Records.key(Int.random(in: 0..<size, using: &random)), records.value(index))
              }
              try store.close()
            }
            let written = try WrittenBytes.now() - before
            var sample = Sample.time(elapsed, count)
            sample[.written] = Double(written.handedOver) / Double(count)
            sample[.disk] = Double(written.toDisk) / Double(count)
            sample[.amplification] =
              Double(written.handedOver) / Double(count * (Records.keyBytes + records.valueBytes))
            return sample
          }
        }
      })
  }
}
