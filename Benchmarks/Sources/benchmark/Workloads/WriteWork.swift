/// What is written one record at a time, the same for all.
struct WriteWork {
  let keys: [[UInt8]]
  let records = Records()

  /// So many records, over random ones of `total`.
  init(_ count: Int, of total: Int) { keys = Records.randomKeys(count, of: total, seed: 7) }

  func put(_ index: Int, in store: any Store) throws { try store.put(keys[index], records.value(index)) }

  /// A store that holds records, over which it puts others.
  static func contestant(
    _ kind: any Store.Type, name: String? = nil, _ setup: Setup, _ count: Int, of total: Int
  ) -> Contestant {
    Contestant(name: name ?? kind.name) { scratch in
      let work = WriteWork(count, of: total)
      let store = try makeStore(kind, scratch.place("store"), setup, total)
      return Prepared { probe in
        try probe.observeEach(work.keys.indices) { try work.put($0, in: store) }
      } finish: {
        try store.close()
      }
    }
  }

  /// The frames of `group` records in one `write`, so many times.
  static func bare(_ count: Int, group: Int = 1, valueBytes: Int = 100, syncs: Bool) -> Contestant {
    Contestant(name: Contestant.bare) { scratch in
      let file = try PlainFile(scratch.place("file"))
      let frames = [UInt8](repeating: 0xA5, count: Records(valueBytes: valueBytes).frameBytes * group)
      return Prepared { probe in
        try frames.withUnsafeBytes { frames in
          try probe.observeEach(0..<count, operations: group) { _ in
            try file.append(frames)
            if syncs { try file.sync() }
          }
        }
      }
    }
  }
}
