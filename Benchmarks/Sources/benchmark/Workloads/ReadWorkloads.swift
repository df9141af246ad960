/// Reading a compacted page, everything in the system's page cache.
enum ReadWorkloads {
  static func all(_ scale: Scale) -> [Workload] {
    [gets(scale), sweep(scale, deflated: false), sweep(scale, deflated: true)]
  }

  private static func gets(_ scale: Scale) -> Workload {
    let count = scale(1_000_000, quick: 10_000)
    let gets = scale(20_000, quick: 500)
    let others = scale.stores([SQLiteStore.self, LevelDBStore.self, RocksDBStore.self]).map { $0.name }
    return Workload(
      name: "get-random",
      title:
        "get \(gets) random records out of \(count) of 100 B by key; bare: pread of a random record's frame (127 B); "
        + "reference: LogStore with a cache as large as the peers'",
      targets: [.atMost(1.8, of: LMDBStore.name)] + others.map { .faster(than: $0) }, latencies: .apart,
      contestants: [
        Contestant(name: Contestant.bare) { scratch in
          let frame = Records().frameBytes
          let file = try PlainFile.make(scratch.place("file"), bytes: count * frame)
          var random = SplitMix(5)
          let places = (0..<gets).map { _ in Int.random(in: 0..<count, using: &random) * frame }
          return Prepared { probe in
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: frame, alignment: 16)
            defer { buffer.deallocate() }
            return try probe.observeEach(places.indices) { _ = try file.read(into: buffer, at: places[$0]) }
          }
        }
      ]
        + scale.stores.map { getting($0, $0.name, Setup(), gets, of: count) } + [
          getting(
            LogStoreStore.self, Contestant.reference, Setup(cacheBytes: Setup.peerCacheBytes), gets, of: count)
        ])
  }

  private static func getting(
    _ kind: any Store.Type, _ name: String, _ setup: Setup, _ gets: Int, of count: Int
  ) -> Contestant {
    Contestant(name: name) { scratch in
      let keys = Records.randomKeys(gets, of: count, seed: 11)
      let store = try makeStore(kind, scratch.place("store"), setup, count)
      let bytes = Records().valueBytes
      return Prepared { probe in
        try probe.observeEach(keys.indices) { index in
          guard try store.get(keys[index]) == bytes else { throw Failure("a record is not there") }
        }
      } finish: {
        try store.close()
      }
    }
  }

  private static func sweep(_ scale: Scale, deflated: Bool) -> Workload {
    let count = scale(1_000_000, quick: 10_000)
    return Workload(
      name: deflated ? "sweep-deflated" : "sweep",
      title: "read all values of \(count) records of 100 B in order, time a record"
        + (deflated ? ", of compressible data that LogStore deflates" : "")
        + "; bare: read the frames and compute their CRC",
      targets: [.atMost(deflated ? 3 : 1, of: LMDBStore.name)],
      contestants: [
        Contestant(name: Contestant.bare) { scratch in
          let file = try PlainFile.make(scratch.place("file"), bytes: count * Records().frameBytes)
          return Prepared { probe in try probe.observe(count) { try file.checksum() } }
        }
      ]
        + scale.stores.map { kind in
          Contestant(name: kind.name) { scratch in
            let records = Records(deflated ? .text : .random)
            let store = try makeStore(kind, scratch.place("store"), Setup(compresses: deflated), count, records)
            return Prepared { probe in
              try probe.observe(count) {
                guard try store.sweep() == count * records.valueBytes else { throw Failure("a record is not there") }
              }
            } finish: {
              try store.close()
            }
          }
        })
  }
}
