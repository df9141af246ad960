/// Records to write: a key is 16 decimal digits, so that key order is the order of insertion; values are incompressible.
struct Records {
  static let keyBytes = 16
  static let valueBytes = 100
  /// A record's frame in a journal: 9 bytes of frame, 2 of key length, key and value.
  static let frameBytes = 9 + 2 + keyBytes + valueBytes

  private let values: [[UInt8]]

  init(seed: UInt64 = 1) {
    var random = SplitMix(seed)
    values = (0..<1024).map { _ in (0..<Records.valueBytes).map { _ in UInt8(truncatingIfNeeded: random.next()) } }
  }

  func value(_ index: Int) -> [UInt8] { values[index & 1023] }

  static func key(_ index: Int) -> [UInt8] {
    var rest = index
    var key = [UInt8](repeating: 0x30, count: keyBytes)
    var place = keyBytes - 1
    while rest > 0 {
      key[place] = 0x30 + UInt8(rest % 10)
      rest /= 10
      place -= 1
    }
    return key
  }

  /// The keys of `count` random records out of `total`.
  static func randomKeys(_ count: Int, of total: Int, seed: UInt64) -> [[UInt8]] {
    var random = SplitMix(seed)
    return (0..<count).map { _ in key(Int.random(in: 0..<total, using: &random)) }
  }
}

/// A small generator of reproducible numbers.
struct SplitMix: RandomNumberGenerator {
  private var state: UInt64
  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
