import LogStoreTesting

/// What may be on a disk when the power goes: all up to the last flush, and whatever of what came after it.
struct DiskState: Equatable, CustomStringConvertible {
  enum Fate: Equatable {
    case all
    case none
    /// Some of the writes, and some of the pieces of others.
    case seeded(UInt64)
  }

  /// How many entries the log had.
  var end: Int
  var fate: Fate

  var description: String {
    switch fate {
    case .all: "\(end)/all"
    case .none: "\(end)/none"
    case .seeded(let seed): "\(end)/\(seed)"
    }
  }

  init(end: Int, fate: Fate) {
    self.end = end
    self.fate = fate
  }

  init?(_ text: String) {
    let parts = text.split(separator: "/")
    guard parts.count == 2, let end = Int(parts[0]), end >= 0 else { return nil }
    self.end = end
    switch parts[1] {
    case "all": fate = .all
    case "none": fate = .none
    default:
      guard let seed = UInt64(parts[1]) else { return nil }
      fate = .seeded(seed)
    }
  }

  /// A piece of a write that reached the disk.
  struct Patch: Equatable {
    var offset: UInt64
    var bytes: ArraySlice<UInt8>
  }

  /// What there is on the disk beyond the last flush.
  ///
  /// - Parameter unit: what the disk writes whole or not at all, in bytes.
  func patches(_ log: DiskLog, unit: Int) -> [Patch] {
    let writes = log.entries[log.settled(before: end)..<end].compactMap { entry -> Patch? in
      if case .write(let offset, let bytes) = entry { Patch(offset: offset, bytes: bytes[...]) } else { nil }
    }
    guard case .seeded(let seed) = fate else { return fate == .all ? writes : [] }
    var random = SeededRandom(seed: seed)
    // Few, half or nearly all of them: each shows other faults.
    let kept = [1, 4, 7].randomElement(using: &random)!
    let torn = random.next() % 2 == 0
    return writes.flatMap { write -> [Patch] in
      if torn, random.next() % 4 == 0 { return DiskState.pieces(write, unit, &random) }
      return Int(random.next() % 8) < kept ? [write] : []
    }
  }

  private static func pieces(_ write: Patch, _ unit: Int, _ random: inout SeededRandom) -> [Patch] {
    stride(from: 0, to: write.bytes.count, by: unit).compactMap { place in
      guard random.next() % 2 == 0 else { return nil }
      return Patch(offset: write.offset + UInt64(place), bytes: write.bytes.dropFirst(place).prefix(unit))
    }
  }
}
