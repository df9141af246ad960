import LogStore

/// A number that stands for a table's records in their order.
struct Fingerprint: Equatable {
  private(set) var value: UInt64 = 0x9E37_79B9_7F4A_7C15

  mutating func add(_ bytes: RawSpan) {
    add(UInt64(bytes.byteCount))
    var place = 0
    while place + 8 <= bytes.byteCount {
      add(unsafe bytes.unsafeLoadUnaligned(fromByteOffset: place, as: UInt64.self))
      place += 8
    }
    var rest: UInt64 = 0
    while place < bytes.byteCount {
      rest = rest << 8 | UInt64(unsafe bytes.unsafeLoad(fromByteOffset: place, as: UInt8.self))
      place += 1
    }
    add(rest)
  }

  mutating func add(_ word: UInt64) {
    value = (value ^ word) &* 0xBF58_476D_1CE4_E5B9
    value ^= value >> 29
  }

  init() {}

  init(_ table: OrderedTable) {
    for record in table.records {
      add(record.key)
      add(record.value)
    }
  }

  private mutating func add(_ bytes: [UInt8]) {
    let span = bytes.span
    unsafe add(span.bytes)
  }
}
