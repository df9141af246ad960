/// Records to write: a key is 16 decimal digits, so that key order is the order of insertion.
struct Records {
  static let keyBytes = 16

  let valueBytes: Int
  /// A record's frame in a journal: 9 bytes of frame, 2 of key length, key and value.
  var frameBytes: Int { 9 + 2 + Records.keyBytes + valueBytes }

  enum Content {
    /// Nothing can be saved of it.
    case random
    /// Words, of which compression saves about two thirds.
    case text
  }

  private let values: [[UInt8]]

  init(_ content: Content = .random, valueBytes: Int = 100, seed: UInt64 = 1) {
    self.valueBytes = valueBytes
    var random = SplitMix(seed)
    // Different ones as far as 4 MiB allow.
    let count = min(1024, max(64, (4 << 20) / valueBytes))
    values = (0..<count).map { _ in
      switch content {
      case .random: (0..<valueBytes).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      case .text: Records.text(valueBytes, &random)
      }
    }
  }

  func value(_ index: Int) -> [UInt8] { values[index % values.count] }

  private static func text(_ count: Int, _ random: inout SplitMix) -> [UInt8] {
    let words = ["page", "journal", "of", "the", "writer", "and", "a", "record", "that", "was", "kept", "in", "order"]
    var text: [UInt8] = []
    while text.count < count {
      text += Array(words[Int.random(in: 0..<words.count, using: &random)].utf8) + [0x20]
      if random.next() % 4 == 0 { text += Array("\(random.next() % 10_000) ".utf8) }
    }
    return Array(text[..<count])
  }

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

  /// Makes a key the next one.
  static func increment(_ key: inout [UInt8]) {
    var place = keyBytes - 1
    while key[place] == 0x39 {
      key[place] = 0x30
      place -= 1
    }
    key[place] += 1
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
