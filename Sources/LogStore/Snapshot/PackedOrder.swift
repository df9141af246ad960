/// A verified frame of the order table, as it is kept in memory.
///
/// Records stand one behind another, so that their places are a beginning and ends: two bytes a record instead of twelve,
/// or none where all take the same number of bytes. A frame of places that do not follow one another, as those of blocks
/// do not, is kept as it stands in the file.
enum PackedOrder {
  /// What is in front of the ends: the beginning, the common length, and bytes of an end.
  private static let headBytes = 16

  static func pack(_ entries: RawSpan) -> [UInt8] {
    let count = entries.byteCount / SnapshotLayout.orderEntryBytes
    let first = place(entries, 0)
    var (end, isEven, follows) = (UInt64(0), true, true)
    for index in 0..<count where follows {
      let place = place(entries, index)
      follows = place.offset == first.offset &+ end
      isEven = isEven && place.span == first.span
      end += UInt64(place.span)
    }
    let width =
      switch end {
      case _ where !follows: SnapshotLayout.orderEntryBytes
      case _ where isEven: 0
      case UInt64(UInt32.max) + 1...UInt64.max: SnapshotLayout.orderEntryBytes
      case ...UInt64(UInt16.max): 2
      default: 4
      }
    let isKept = width == SnapshotLayout.orderEntryBytes
    var packed: [UInt8] = []
    packed.reserveCapacity(headBytes + count * width)
    packed.append(first.offset, 8)
    packed.append(UInt64(first.span), 4)
    packed.append(UInt64(width), 4)
    end = 0
    for index in 0..<(width == 0 ? 0 : count) {
      let place = place(entries, index)
      end += UInt64(place.span)
      packed.append(isKept ? place.offset : end, isKept ? 8 : width)
      if isKept { packed.append(UInt64(place.span), 4) }
    }
    return packed
  }

  /// The entry at `index`, exactly as it was in the frame.
  static func place(_ index: Int, in packed: RawSpan) -> SnapshotReader.Place {
    let first = packed.u64(0)
    let width = Int(packed.u32(12))
    guard width != 0 else {
      let span = packed.u32(8)
      return SnapshotReader.Place(offset: first &+ UInt64(index) &* UInt64(span), span: Int(span))
    }
    if width == SnapshotLayout.orderEntryBytes {
      return place(packed.extracting(headBytes..<packed.byteCount), index)
    }
    let entry = headBytes + index * width
    let start = index == 0 ? 0 : end(packed, entry - width, width)
    return SnapshotReader.Place(offset: first &+ UInt64(start), span: end(packed, entry, width) - start)
  }

  /// The entry at `index` of a frame's payload.
  @inline(__always)
  static func place(_ entries: RawSpan, _ index: Int) -> SnapshotReader.Place {
    let entry = index * SnapshotLayout.orderEntryBytes
    return SnapshotReader.Place(offset: entries.u64(entry), span: Int(entries.u32(entry + 8)))
  }

  private static func end(_ packed: RawSpan, _ offset: Int, _ width: Int) -> Int {
    width == 2 ? Int(packed.u16(offset)) : Int(packed.u32(offset))
  }
}

extension [UInt8] {
  /// Appends the lowest bytes of a number, the lowest first.
  mutating func append(_ number: UInt64, _ bytes: Int) {
    for place in 0..<bytes { append(UInt8(truncatingIfNeeded: number >> UInt64(8 * place))) }
  }
}
