/// Folding everything written into the form that is read best.
enum CompactWorkload {
  static func make(_ scale: Scale) -> Workload {
    let count = scale(300_000, quick: 3000)
    return Workload(
      name: "compact",
      title: "compact \(count) records of 100 B out of the journal; SQLite: VACUUM + checkpoint, LMDB: compact copy; "
        + "bare: copy those bytes and sync",
      operations: 1
    ) { scratch in
      let file = try PlainFile(scratch.place("bare"))
      let frames = [UInt8](repeating: 0xA5, count: Records.frameBytes * 1000)
      for _ in 0..<count / 1000 { try frames.withUnsafeBytes { try file.append($0) } }
      let bare = Contestant(name: Contestant.bare) {
        let copy = scratch.place("bare-copy")
        defer { Scratch.remove(copy) }
        return try time { try PlainFile.copy(file.path, to: copy) }
      }
      return [bare]
        + scale.stores.map { kind in
          Contestant(name: kind.name) {
            let path = scratch.place(kind.name)
            defer {
              Scratch.remove(path)
              Scratch.remove(path + ".copy")
            }
            let store = try kind.init(path, Setup(keepsJournal: true))
            try store.load(count)
            let elapsed = try time { try store.compact() }
            try store.close()
            return elapsed
          }
        }
    }
  }
}
