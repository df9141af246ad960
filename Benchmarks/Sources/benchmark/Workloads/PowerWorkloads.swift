/// Records of 100 B, each durable before its writer goes on.
enum PowerWorkloads {
  static func all(_ scale: Scale) -> [Workload] {
    [one(scale), oneTask(scale), tasks(scale)] + [1, 4, 16, 64].map { threads($0, scale) }
  }

  private static let pageRecords = 1000
  private static let setup = Setup(durability: .power)

  private static func one(_ scale: Scale) -> Workload {
    let count = scale(20, quick: 5)
    return Workload(
      name: "power",
      title: "put 100 B, each durable before the next; bare: write + fdatasync of the record's frame (127 B)",
      targets: [.atMost(1.08, of: Contestant.bare)], rounds: .init(repetition: scale(15, quick: 1)),
      latencies: .timed,
      contestants: [WriteWork.bare(count, syncs: true)]
        + scale.stores.map { WriteWork.contestant($0, setup, count, of: pageRecords) })
  }

  private static func oneTask(_ scale: Scale) -> Workload {
    let count = scale(20, quick: 5)
    return Workload(
      name: "power-async",
      title: "as power, in one task that awaits each put",
      targets: [.atMost(1.3, of: Contestant.bare)], rounds: .init(repetition: scale(15, quick: 1)),
      latencies: .timed,
      contestants: [WriteWork.bare(count, syncs: true), writers(1, each: count, .tasks)])
  }

  private static func tasks(_ scale: Scale) -> Workload {
    let each = scale(20, quick: 3)
    return Workload(
      name: "power-64-tasks",
      title: "64 tasks that each await durable puts of 100 B, time a record; bare: one write of 64 frames + fdatasync, "
        + "whose latency is that of the sync; reference: LogStore with one thread",
      targets: [
        .speed(20, of: Contestant.reference), .speed(0.6, of: Contestant.bare), .atMost(4, of: Contestant.bare, .p99),
      ], rounds: .init(repetition: scale(3, quick: 1)), latencies: .timed,
      contestants: [WriteWork.bare(each, group: 64, syncs: true), writers(64, each: each, .tasks), reference(scale)])
  }

  private static func threads(_ count: Int, _ scale: Scale) -> Workload {
    let each = scale(20, quick: 3)
    var targets: [Target] = []
    if count == 64 {
      targets = [
        .speed(12, of: Contestant.reference), .speed(2, of: LevelDBStore.name), .speed(2, of: RocksDBStore.name),
        .atMost(6, of: Contestant.bare, .p99),
      ]
    }
    return Workload(
      name: "power-\(count)-thread\(count > 1 ? "s" : "")",
      title: "\(count) threads that each put 100 B durably, time a record; SQLite: one connection under a lock; "
        + "bare: one write of \(count) frames + fdatasync; reference: LogStore with one thread",
      targets: targets, rounds: .init(repetition: scale(count > 1 ? 3 : 1, quick: 1)), latencies: .timed,
      point: PlotPoint(plot: .durablePutsByThreads, x: Double(count)),
      contestants: [WriteWork.bare(each, group: count, syncs: true)]
        + scale.stores.map { kind in
          // These two commit one record after another, whoever writes.
          let isSlow = kind == SQLiteStore.self || kind == LMDBStore.self
          return writers(count, each: isSlow ? max(1, each / count) : each, .threads(kind))
        } + (count > 1 ? [reference(scale)] : []))
  }

  private static func reference(_ scale: Scale) -> Contestant {
    WriteWork.contestant(
      LogStoreStore.self, name: Contestant.reference, setup, scale(20, quick: 3), of: pageRecords)
  }

  // MARK: Many writers

  private enum Face {
    case tasks
    case threads(any Store.Type)
  }

  private static func writers(_ count: Int, each: Int, _ face: Face) -> Contestant {
    switch face {
    case .tasks:
      return Contestant(name: LogStoreStore.name) { scratch in
        let work = WriteWork(count * each, of: pageRecords)
        let store = try makeStore(LogStoreStore.self, scratch.place("store"), setup, pageRecords)
        guard let page = (store as? LogStoreStore)?.page else { throw Failure("no page") }
        return Prepared { probe in
          let histograms = (0..<count).map { _ in LatencyHistogram() }
          let sample = try probe.observe(count * each, probe.histogram()) {
            try Tasks.run(count) { writer in
              for index in writer * each..<(writer + 1) * each {
                let start = nanoseconds()
                try await page.put(work.records.value(index), for: work.keys[index])
                histograms[writer].record(nanoseconds() - start)
              }
            }
          }
          for histogram in histograms { sample.latencies?.merge(histogram) }
          return sample
        } finish: {
          try store.close()
        }
      }
    case .threads(let kind):
      return Contestant(name: kind.name) { scratch in
        let work = WriteWork(count * each, of: pageRecords)
        let store = try SharedStore(makeStore(kind, scratch.place("store"), setup, pageRecords))
        return Prepared { probe in
          let histograms = (0..<count).map { _ in LatencyHistogram() }
          let threads = try Threads(count) { writer in
            try histograms[writer].recordEach(writer * each..<(writer + 1) * each) { index in
              try store.with { try work.put(index, in: $0) }
            }
          }
          let sample = try probe.observe(count * each, probe.histogram()) {
            threads.start()
            try threads.join()
          }
          for histogram in histograms { sample.latencies?.merge(histogram) }
          return sample
        } finish: {
          try store.with { try $0.close() }
        }
      }
    }
  }

  /// A store that threads share.
  ///
  /// Invariant behind the unchecked conformance: a store that does not say that it is safe is used under a lock.
  private struct SharedStore: @unchecked Sendable {
    private let store: any Store
    private let lock = Locked(())

    init(_ store: any Store) { self.store = store }

    func with(_ body: (any Store) throws -> Void) throws {
      if type(of: store).isThreadSafe { return try body(store) }
      try lock.withLock { _ in try body(store) }
    }
  }
}
