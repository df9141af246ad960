import LogStore

/// Reading and checking every byte of a page, snapshot and journal, from the disk.
enum VerifyWorkloads {
  static func all(_ scale: Scale) -> [Workload] {
    [
      make("verify-100", scale, Records(), .speed(0.45, of: Contestant.bare)),
      make("verify-1024", scale, Records(valueBytes: 1024), .speed(0.7, of: Contestant.bare)),
    ]
  }

  private static func make(_ name: String, _ scale: Scale, _ records: Records, _ target: Target) -> Workload {
    let count = scale(64 << 20, quick: 1 << 20) / records.frameBytes
    let prepare: @Sendable (Scratch) throws -> String = { scratch in
      let store = try LogStoreStore(scratch.place("store"), Setup())
      try store.load(count, records)
      // As by default, the journal stays beside the snapshot.
      try store.page.compact()
      try store.close()
      return scratch.place("store")
    }
    return Workload(
      name: name,
      title: "verify a page with \(count) records of \(records.valueBytes) B in its journal and its snapshot, past the "
        + "page cache; bare: read those files, past it too, and compute their CRC",
      targets: [target],
      contestants: [
        Contestant(name: Contestant.bare) { scratch in
          let path = try prepare(scratch)
          return Prepared { probe in
            try probe.observe {
              for name in try Scratch.names(path) {
                let file = try PlainFile(path + "/" + name, flags: 0)
                file.dropCache()
                try file.checksum()
              }
            }
          }
        },
        Contestant(name: LogStoreStore.name) { scratch in
          let inspector = PageInspector(path: try prepare(scratch))
          return Prepared { probe in
            try probe.observe {
              let report = try inspector.verify()
              guard report.findings.isEmpty else { throw Failure("the page is damaged: \(report.findings)") }
            }
          }
        },
      ])
  }
}
