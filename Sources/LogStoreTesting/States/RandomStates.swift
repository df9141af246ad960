/// States of a window that a seed draws.
extension CrashWindow {
  func randomState(_ number: Int, seed: UInt64) -> CrashState {
    var random = SeededRandom(seed: ContentHash.mix(seed, UInt64(truncatingIfNeeded: number)))
    let stage = stages[Int.random(in: stages.indices, using: &random)]
    // How likely effects are to arrive: mostly, hardly, or as a coin falls.
    let odds = [1, 4, 7][Int.random(in: 0..<3, using: &random)]
    let names = names(randomNames(stage, odds, &random))
    var fates: [[WriteFate]] = []
    for file in files { fates.append(randomFates(file, stage, odds, &random)) }
    return state(names, { fates[$0] }, .random(number, seed))
  }

  private func randomNames(_ stage: Stage, _ odds: Int, _ random: inout SeededRandom) -> [Bool] {
    var last = Int.max
    if profile.ordersNames { last = Int.random(in: 0...changes.count, using: &random) }
    return needs(stage).enumerated().map { place, need in
      switch need {
      case .mustArrive: true
      case .cannotArrive: false
      case .mayArrive: profile.ordersNames ? place < last : random.next() % 8 < odds
      }
    }
  }

  private func randomFates(
    _ file: UnsyncedFile, _ stage: Stage, _ odds: Int, _ random: inout SeededRandom
  ) -> [WriteFate] {
    let length = file.writes.reduce(0) { $0 + (file.isInOrder($1, profile) ? $1.bytes.count : 0) }
    // Where bytes arrive in order: how many of them.
    var left = Int.random(in: 0...length, using: &random)
    return file.writes.map { write in
      let count = write.bytes.count
      switch need(write.sequence, write.barrier, isName: false, stage) {
      case .mustArrive: return .whole(count)
      case .cannotArrive: return .absent
      case .mayArrive: break
      }
      guard file.isInOrder(write, profile) else { return randomFate(write, file, odds, &random) }
      // At the next place where it may end.
      let cut = WriteFates.cuts(write, 4096).last { $0 <= left } ?? 0
      left = cut == count ? left - count : 0
      return WriteFate(size: cut, arrived: cut > 0 ? [0..<cut] : [], garbage: .zeros)
    }
  }

  /// Whole, or absent, or in pieces of some size of which some have arrived.
  private func randomFate(
    _ write: DiskFile.Write, _ file: UnsyncedFile, _ odds: Int, _ random: inout SeededRandom
  ) -> WriteFate {
    let count = write.bytes.count
    guard count > 0, random.next() % 3 == 0 else { return random.next() % 8 < odds ? .whole(count) : .absent }
    var kinds = Garbage.kinds(profile, file, at: max(write.offset, file.base.count))
    if profile != .appleFsync { kinds.append(.noise(random.next())) }
    let kind = kinds[Int.random(in: kinds.indices, using: &random)]
    var cuts = WriteFates.cuts(write, random.next() % 3 == 0 ? 4096 : 512)
    if profile.growth == .anywhere {
      switch random.next() % 4 {
      case 0: cuts = [0, count / 3, 2 * count / 3, count]
      case 1: cuts = [0, Int.random(in: 0...count, using: &random), count]
      case 2 where count <= 4096:
        cuts = Array(stride(from: 0, to: count, by: Int.random(in: 1...16, using: &random))) + [count]
      default: break
      }
    }
    var arrived: [Range<Int>] = []
    for (start, end) in zip(cuts, cuts.dropFirst()) where start < end && random.next() % 8 < odds {
      arrived.append(start..<end)
    }
    // The file may end with the last piece that has arrived.
    let size = random.next() % 3 == 0 ? arrived.last?.upperBound ?? 0 : count
    return WriteFate(size: size, arrived: arrived, garbage: kind)
  }
}
