/// What has become of one write.
struct WriteFate {
  /// How many of its bytes the file covers, counted from the write's beginning.
  var size: Int
  /// Which of them have arrived, in order.
  var arrived: [Range<Int>]
  /// What stands where the file has grown and nothing has arrived.
  var garbage: Garbage

  static let absent = WriteFate(size: 0, arrived: [], garbage: .zeros)
  static func whole(_ count: Int) -> WriteFate { WriteFate(size: count, arrived: [0..<count], garbage: .zeros) }

  func apply(_ write: DiskFile.Write, to bytes: inout [UInt8], _ file: UnsyncedFile) {
    guard size > 0 else { return }
    if write.offset == bytes.count, arrived.count == 1, arrived[0] == 0..<size {
      bytes.append(contentsOf: write.bytes[..<size])
      return
    }
    garbage.fill(&bytes, to: write.offset + size, file)
    for range in arrived {
      let place = (write.offset + range.lowerBound)..<(write.offset + range.upperBound)
      bytes.replaceSubrange(place, with: write.bytes[range])
    }
  }
}

/// How finely writes are torn where every choice is enumerated.
enum Grain: Int, CaseIterable {
  /// A write is there or not.
  case bare
  /// Or the file has grown by it and shows garbage.
  case grown
  case thirds
  case sectors
  /// Or it is there up to any byte.
  case bytes

  /// Its letter in identities.
  var letter: Character {
    switch self {
    case .bare: "w"
    case .grown: "g"
    case .thirds: "t"
    case .sectors: "s"
    case .bytes: "b"
    }
  }
}

/// All that may become of one write, at a grain, under a profile where bytes arrive out of order.
struct WriteFates {
  private let write: DiskFile.Write
  private let count: Int
  /// What the file may show; one entry, which nobody sees, where it has not grown.
  private let garbage: [Garbage]
  private let grows: Bool
  private(set) var all: [WriteFate]

  /// - Returns: nil where there are more than `limit`.
  init?(_ write: DiskFile.Write, _ file: UnsyncedFile, _ profile: CrashProfile, _ grain: Grain, limit: Int) {
    self.write = write
    count = write.bytes.count
    // Under `.ordered` only what is overwritten in place comes here.
    grows = write.end > file.base.count
    garbage = grows ? Garbage.kinds(profile, file, at: max(write.offset, file.base.count)) : [.zeros]
    all = [.absent]
    guard count > 0 else { return }
    all.append(.whole(count))
    if grain >= .grown, grows { add([]) }
    if grain >= .thirds, profile.growth == .anywhere { addThirds() }
    if grain >= .sectors {
      // An upper bound, before anything is made of it.
      guard (count / 512 + 2) * (3 * garbage.count + 1) <= limit else { return nil }
      addBlocks(of: 512)
      addBlocks(of: 4096)
    }
    if grain >= .bytes, profile.growth == .anywhere {
      guard count * (garbage.count + 1) <= limit else { return nil }
      for cut in 1..<max(count, 1) { addPrefix(cut) }
    }
    guard all.count <= limit else { return nil }
  }

  /// These pieces have arrived, with each kind of garbage for the rest.
  private mutating func add(_ arrived: [Range<Int>]) {
    for kind in garbage { all.append(WriteFate(size: count, arrived: arrived, garbage: kind)) }
  }

  /// All before `cut` has arrived; the file ends there, or goes on with garbage.
  private mutating func addPrefix(_ cut: Int) {
    guard cut > 0, cut < count else { return }
    if grows { all.append(WriteFate(size: cut, arrived: [0..<cut], garbage: .zeros)) }
    add([0..<cut])
  }

  private mutating func addThirds() {
    let cuts = [0, count / 3, 2 * count / 3, count]
    for pattern in 1..<7 {
      let pieces = (0..<3).filter { pattern >> $0 & 1 == 1 }.map { cuts[$0]..<cuts[$0 + 1] }
      add(pieces.filter { !$0.isEmpty })
    }
    addPrefix(cuts[1])
    addPrefix(cuts[2])
  }

  /// Blocks as they lie on the disk: up to one of them, all but one, only one.
  private mutating func addBlocks(of size: Int) {
    let cuts = WriteFates.cuts(write, size)
    guard cuts.count > 2 else { return }
    for cut in cuts { addPrefix(cut) }
    for (start, end) in zip(cuts, cuts.dropFirst()) {
      add([start..<end])
      add([0..<start, end..<count].filter { !$0.isEmpty })
    }
  }

  /// Where blocks of a size begin and end in a write, from its beginning to its end.
  static func cuts(_ write: DiskFile.Write, _ size: Int) -> [Int] {
    var cuts = [0]
    var next = (write.offset / size + 1) * size - write.offset
    while next < write.bytes.count {
      cuts.append(next)
      next += size
    }
    if write.bytes.count > 0 { cuts.append(write.bytes.count) }
    return cuts
  }
}

extension Grain: Comparable {
  static func < (left: Grain, right: Grain) -> Bool { left.rawValue < right.rawValue }
}
