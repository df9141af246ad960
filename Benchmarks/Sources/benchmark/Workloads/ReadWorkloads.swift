/// Reading a compacted page of a million records, everything in the system's page cache.
enum ReadWorkloads {
  static func all(_ scale: Scale) -> [Workload] {
    let count = scale(1_000_000, quick: 10_000)
    let gets = scale(20_000, quick: 500)
    return [
      Workload(
        name: "get-random",
        title:
          "get \(gets) random records out of \(count) of 100 B by key; bare: pread of a random record's frame (127 B)",
        operations: gets
      ) { scratch in
        let keys = Records.randomKeys(gets, of: count, seed: 11)
        return try [bareGets(scratch, count, gets)]
          + scale.stores.map { kind in
            let store = try compacted(kind, scratch, count)
            return Contestant(name: kind.name) {
              try time {
                for key in keys where try store.get(key) != Records.valueBytes {
                  throw Failure("a record is not there")
                }
              }
            } finish: {
              try store.close()
            }
          }
      },
      Workload(
        name: "sweep",
        title:
          "read all values of \(count) records of 100 B in order, time a record; bare: read the frames and compute their CRC",
        operations: count
      ) { scratch in
        let file = try bareFrames(scratch, count)
        let bare = Contestant(name: Contestant.bare) { try time { _ = try file.checksum() } }
        return try [bare]
          + scale.stores.map { kind in
            let store = try compacted(kind, scratch, count)
            return Contestant(name: kind.name) {
              try time {
                guard try store.sweep() == count * Records.valueBytes else { throw Failure("a record is not there") }
              }
            } finish: {
              try store.close()
            }
          }
      },
    ]
  }

  private static func compacted(_ kind: any Store.Type, _ scratch: Scratch, _ count: Int) throws -> any Store {
    let path = scratch.place(kind.name)
    let loader = try kind.init(path, Setup())
    try loader.load(count)
    try loader.compact()
    try loader.close()
    return try kind.init(path, Setup())
  }

  private static func bareFrames(_ scratch: Scratch, _ count: Int) throws -> PlainFile {
    let file = try PlainFile(scratch.place("bare"))
    let frames = [UInt8](repeating: 0xA5, count: Records.frameBytes * 1000)
    for _ in 0..<(count + 999) / 1000 { try frames.withUnsafeBytes { try file.append($0) } }
    return file
  }

  private static func bareGets(_ scratch: Scratch, _ count: Int, _ gets: Int) throws -> Contestant {
    let file = try bareFrames(scratch, count)
    var random = SplitMix(5)
    let places = (0..<gets).map { _ in Int.random(in: 0..<count, using: &random) * Records.frameBytes }
    return Contestant(name: Contestant.bare) {
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Records.frameBytes, alignment: 16)
      defer { buffer.deallocate() }
      return try time { for place in places { _ = try file.read(into: buffer, at: place) } }
    }
  }
}
