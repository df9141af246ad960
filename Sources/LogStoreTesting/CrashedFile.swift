extension DiskFile {
  /// The file as the next process finds it after a power cut.
  func after(_ fate: Crash.Fate, _ removed: [[UInt8]], _ random: inout SeededRandom) -> DiskFile {
    var file = self
    switch fate {
    case .dropUnsynced: file.replace(with: durable)
    case .keepAll:
      // What a failed sync has taken from the medium does not come back.
      file.sync()
      file.replace(with: file.durable)
    case .seeded: file.replace(with: torn(removed, &random))
    }
    return file
  }

  private func torn(_ removed: [[UInt8]], _ random: inout SeededRandom) -> [UInt8] {
    guard !pending.isEmpty else { return durable }
    switch random.next() % 8 {
    case 0: return durable
    case 1:
      var whole = self
      whole.sync()
      return whole.durable
    case 2, 3: return prefix(&random)
    default: return pieces(removed, &random)
    }
  }

  /// The writes up to a byte, in order; then, at times, what the file had grown by, as zeros.
  private func prefix(_ random: inout SeededRandom) -> [UInt8] {
    var left = Int.random(in: 0...pending.reduce(0) { $0 + $1.bytes.count }, using: &random)
    var result = durable
    for write in pending {
      guard left > 0 else { break }
      DiskFile.apply(Array(write.bytes.prefix(left)), at: write.offset, to: &result)
      left -= write.bytes.count
    }
    if random.next() % 3 == 0, let end = pending.map(\.end).max(), end > result.count {
      result += repeatElement(0, count: Int.random(in: 0...(end - result.count), using: &random))
    }
    return result
  }

  /// Each piece of each write may have arrived or not, in any order; what the file has grown by and did not arrive is garbage.
  private func pieces(_ removed: [[UInt8]], _ random: inout SeededRandom) -> [UInt8] {
    var end = durable.count
    for write in pending where random.next() % 4 != 0 { end = max(end, write.end) }
    if let last = pending.map(\.end).max(), random.next() % 4 == 0, last > durable.count {
      end = Int.random(in: durable.count...last, using: &random)
    }
    var result = durable
    let grown = max(end, durable.count) - durable.count
    result += Garbage.bytes(grown, at: durable.count, removed, &random)
    let size = pieceSize(&random)
    for write in pending {
      var place = 0
      while place < write.bytes.count {
        let next = min(write.bytes.count, place + size)
        let start = write.offset + place
        if start < end {
          let piece = write.bytes[place..<min(next, end - write.offset)]
          switch random.next() % 4 {
          case 0: break
          case 1 where start >= durable.count:
            DiskFile.apply(Garbage.bytes(piece.count, at: start, removed, &random), at: start, to: &result)
          default: DiskFile.apply(Array(piece), at: start, to: &result)
          }
        }
        place = next
      }
    }
    return Array(result[..<max(end, min(durable.count, result.count))])
  }

  private func pieceSize(_ random: inout SeededRandom) -> Int {
    let longest = pending.map(\.bytes.count).max() ?? 1
    return switch random.next() % 5 {
    case 0: max(longest, 1)
    case 1: max(longest / 3, 1)
    case 2: 4096
    case 3: 512
    default: longest <= 4096 ? Int.random(in: 1...16, using: &random) : 512
    }
  }
}

/// What a grown file may show where its bytes have not arrived.
enum Garbage {
  static func bytes(_ count: Int, at offset: Int, _ removed: [[UInt8]], _ random: inout SeededRandom) -> [UInt8] {
    switch random.next() % 4 {
    case 0: return [UInt8](repeating: 0, count: count)
    case 1: return [UInt8](repeating: 0xFF, count: count)
    case 2:
      guard let old = removed.randomElement(using: &random) else { fallthrough }
      // Blocks that another file gave back, at the same place.
      return (0..<count).map { offset + $0 < old.count ? old[offset + $0] : 0 }
    default:
      return (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }
  }
}
