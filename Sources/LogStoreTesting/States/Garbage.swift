/// What a grown file may show where its bytes have not arrived.
enum Garbage: Hashable {
  case zeros
  case ones
  case noise(UInt64)
  /// What once stood at the same place of the file; where nothing did, what stands in front of it.
  case older
  /// What a removed file holds at the same place.
  case removed(Int)

  /// Appends what stands from the end of `bytes` to `end`.
  func fill(_ bytes: inout [UInt8], to end: Int, _ file: UnsyncedFile) {
    let start = bytes.count
    guard start < end else { return }
    switch self {
    case .zeros: bytes.append(contentsOf: repeatElement(0, count: end - start))
    case .ones: bytes.append(contentsOf: repeatElement(0xFF, count: end - start))
    case .noise(let seed):
      var random = SeededRandom(seed: seed ^ UInt64(start))
      var word: UInt64 = 0
      for place in 0..<(end - start) {
        word = place % 8 == 0 ? random.next() : word >> 8
        bytes.append(UInt8(truncatingIfNeeded: word))
      }
    case .older:
      Garbage.append(file.older, to: &bytes, end)
      // What stands in front, once more.
      let front = start == file.base.count ? file.base : bytes
      while bytes.count < end { bytes.append(start == 0 ? 0 : front[bytes.count % start]) }
    case .removed(let number):
      Garbage.append(file.removed[number], to: &bytes, end)
      Garbage.zeros.fill(&bytes, to: end, file)
    }
  }

  private static func append(_ source: [UInt8], to bytes: inout [UInt8], _ end: Int) {
    let last = min(end, source.count)
    if bytes.count < last { bytes.append(contentsOf: source[bytes.count..<last]) }
  }

  /// The kinds that a write at `offset` may show.
  static func kinds(_ profile: CrashProfile, _ file: UnsyncedFile, at offset: Int) -> [Garbage] {
    var kinds: [Garbage] = profile == .appleFsync ? [.zeros] : [.zeros, .ones, .noise(file.number)]
    if offset > 0 || file.older.count > offset { kinds.append(.older) }
    for (number, bytes) in file.removed.enumerated() where bytes.count > offset { kinds.append(.removed(number)) }
    return kinds
  }
}
