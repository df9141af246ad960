/// A record of the overlay: 20 bytes and its key.
///
///     0   file of the value      u32
///     4   leaf of the order tree u32
///     8   offset of the value    48 bits; length of the key 15 bits; whether the value lies in the base 1 bit
///     16  length of the value    u32
///     20  key
struct RecordSlot {
  static let headerBytes = 20
  static let largestOffset: UInt64 = 1 << 48 - 1
  private static let baseBit: UInt64 = 1 << 63

  let slot: MemorySlot

  /// The size of a record with a key of `count` bytes, in units of eight bytes.
  @inline(__always)
  static func units(keyLength count: Int) -> Int { (headerBytes + count + 7) >> 3 }

  private var packed: UInt64 {
    @inline(__always) get { slot.load(8) }
    @inline(__always) nonmutating set { slot.store(newValue, at: 8) }
  }

  var leaf: SlotRef {
    @inline(__always) get { SlotRef(raw: slot.load(4)) }
    @inline(__always) nonmutating set { slot.store(newValue.raw, at: 4) }
  }

  var keyLength: Int { Int((packed >> 48) & 0x7FFF) }
  var units: Int { RecordSlot.units(keyLength: keyLength) }

  var value: RecordRef {
    let packed = packed
    let offset = packed & RecordSlot.largestOffset
    if packed & RecordSlot.baseBit != 0 { return .base(Int(offset)) }
    return .journal(ValueLocation(file: slot.load(0), offset: offset, length: slot.load(16)))
  }

  @inline(__always)
  func fill(_ key: RawSpan, _ value: RecordRef) {
    set(value, beside: UInt64(key.byteCount) << 48)
    slot.copy(key, to: RecordSlot.headerBytes)
  }

  @inline(__always)
  func set(_ value: RecordRef) { set(value, beside: packed & ~(RecordSlot.largestOffset | RecordSlot.baseBit)) }

  @inline(__always)
  private func set(_ value: RecordRef, beside kept: UInt64) {
    switch value {
    case .base(let index):
      packed = kept | RecordSlot.baseBit | UInt64(index)
    case .journal(let location):
      packed = kept | location.offset
      slot.store(location.file, at: 0)
      slot.store(location.length, at: 16)
    }
  }

  @inline(__always)
  func hasKey(_ key: RawSpan) -> Bool {
    keyLength == key.byteCount && slot.equals(key, at: RecordSlot.headerBytes)
  }

  @inline(__always)
  func withKey<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try slot.withBytes(RecordSlot.headerBytes, count: keyLength, body)
  }
}
