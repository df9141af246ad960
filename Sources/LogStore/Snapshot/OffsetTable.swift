/// Numbers by offsets in a file: an open hash table.
///
/// What a dictionary needs of the runtime would cost the first look-up of a process more than its reading, and hashing
/// with a secret, each one more than finding. Offsets are the page's own, and frames do not overlap, so nobody can make
/// many of them collide. An offset is never 0, where a file's header stands.
struct OffsetTable {
  /// Pairs of offset and number; offset 0 is an empty place.
  private var pairs: [UInt64] = []
  private(set) var count = 0
  /// Bits of the index of a place.
  private var bits = 0

  private func home(_ offset: UInt64) -> Int { Int((offset &* 0x9E37_79B9_7F4A_7C15) >> UInt64(64 - bits)) }

  subscript(offset: UInt64) -> Int? {
    guard count > 0 else { return nil }
    var place = home(offset)
    while pairs[2 * place] != 0 {
      if pairs[2 * place] == offset { return Int(pairs[2 * place + 1]) }
      place = (place + 1) & (1 << bits - 1)
    }
    return nil
  }

  /// Sets the number of an offset, new or not.
  mutating func set(_ offset: UInt64, _ number: Int) {
    if 4 * (count + 1) > 3 << bits { grow() }
    var place = home(offset)
    while pairs[2 * place] != 0, pairs[2 * place] != offset { place = (place + 1) & (1 << bits - 1) }
    if pairs[2 * place] == 0 { count += 1 }
    pairs[2 * place] = offset
    pairs[2 * place + 1] = UInt64(number)
  }

  mutating func remove(_ offset: UInt64) {
    guard count > 0 else { return }
    let mask = 1 << bits - 1
    var gap = home(offset)
    while pairs[2 * gap] != offset {
      if pairs[2 * gap] == 0 { return }
      gap = (gap + 1) & mask
    }
    // Closes the gap: an entry moves back if its search passes the gap on its way.
    var place = gap
    while true {
      place = (place + 1) & mask
      let other = pairs[2 * place]
      if other == 0 { break }
      if (place - home(other)) & mask >= (place - gap) & mask {
        pairs[2 * gap] = other
        pairs[2 * gap + 1] = pairs[2 * place + 1]
        gap = place
      }
    }
    pairs[2 * gap] = 0
    count -= 1
  }

  private mutating func grow() {
    let old = pairs
    bits = max(bits + 1, 4)
    pairs = [UInt64](repeating: 0, count: 2 << bits)
    count = 0
    var place = 0
    while place < old.count {
      if old[place] != 0 { set(old[place], Int(old[place + 1])) }
      place += 2
    }
  }
}
