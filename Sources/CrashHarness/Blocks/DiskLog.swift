/// What a disk was told, in order, with the marks of what its user was told meanwhile.
struct DiskLog: Equatable {
  enum Entry: Equatable {
    case write(offset: UInt64, [UInt8])
    /// Everything before is on the disk.
    case flush
    case mark([UInt8])
  }

  var entries: [Entry] = []

  init(_ entries: [Entry]) { self.entries = entries }

  /// In a file: kind, offset (u64), length (u32), bytes.
  static func encode(_ entry: Entry) -> [UInt8] {
    var bytes: [UInt8] = []
    func add(_ number: UInt64, _ size: Int) {
      for place in 0..<size { bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(8 * place))) }
    }
    let (kind, offset, data): (UInt8, UInt64, [UInt8]) =
      switch entry {
      case .write(let offset, let data): (1, offset, data)
      case .flush: (2, 0, [])
      case .mark(let data): (3, 0, data)
      }
    bytes.append(kind)
    add(offset, 8)
    add(UInt64(data.count), 4)
    return bytes + data
  }

  /// Reads a log; an entry that the end cuts off is not in it. Nil where the bytes are no log.
  init?(_ bytes: [UInt8]) {
    var place = 0
    while place + 13 <= bytes.count {
      guard 1...3 ~= bytes[place] else { return nil }
      let count = Int(FramePlace.integer(bytes, place + 9, 4))
      guard place + 13 + count <= bytes.count else { break }
      let data = Array(bytes[(place + 13)..<(place + 13 + count)])
      switch bytes[place] {
      case 1: entries.append(.write(offset: FramePlace.integer(bytes, place + 1, 8), data))
      case 2: entries.append(.flush)
      default: entries.append(.mark(data))
      }
      place += 13 + count
    }
  }

  /// How many entries are on the disk for certain after the first `end`: up to the last flush.
  func settled(before end: Int) -> Int { entries[..<end].lastIndex(of: .flush).map { $0 + 1 } ?? 0 }

  /// What the disk's user had been told before an entry.
  func marks(before end: Int) -> [[UInt8]] {
    entries[..<end].compactMap { if case .mark(let data) = $0 { data } else { nil } }
  }
}
