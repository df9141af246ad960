/// A fast 64-bit hash of contents, the same in every process: states are told apart by it, and named in reports.
struct ContentHash {
  private(set) var value: UInt64

  init(_ seed: UInt64 = 0) { value = seed ^ 0x2545_F491_4F6C_DD1D }

  init(_ bytes: [UInt8], seed: UInt64 = 0) {
    self.init(seed)
    add(bytes)
  }

  mutating func add(_ word: UInt64) {
    let product = (value ^ word).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
    value = product.high ^ product.low &+ 0xD6E8_FEB8_6659_FD93
  }

  mutating func add(_ bytes: [UInt8]) {
    let span = unsafe bytes.span.bytes
    let whole = span.byteCount & ~7
    var offset = 0
    while offset < whole {
      // In bounds by `whole`; read as they come, the machine's order being the same for all states.
      unsafe add(span.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self))
      offset += 8
    }
    var rest: UInt64 = 0
    while offset < span.byteCount {
      rest = rest << 8 | UInt64(bytes[offset])
      offset += 1
    }
    add(rest)
    add(UInt64(bytes.count))
  }

  mutating func add(_ text: String) {
    var word: UInt64 = 0
    var count: UInt64 = 0
    for byte in text.utf8 {
      word = word << 8 | UInt64(byte)
      count += 1
      if count % 8 == 0 { add(word) }
    }
    add(word)
    add(count)
  }

  /// Words mixed into one.
  static func mix(_ first: UInt64, _ second: UInt64) -> UInt64 {
    var hash = ContentHash(first)
    hash.add(second)
    hash.add(first)
    return hash.value
  }
}
