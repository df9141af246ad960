/// A verified bucket of the key table, as it is kept in memory: the low halves of the tags, and the indices in three bytes
/// where that is enough. About half of what stands in the file, so that twice as many are at hand.
///
/// A search may come to a record whose tag is another one, once in some hundred: whoever finds that a record is not the
/// one searched for has to ask the bucket in the file, and until then knows nothing. Where no record is found, there is
/// none.
enum PackedBucket {
  /// What is in front of the tags: how many there are, and bytes of an index.
  private static let headBytes = 4

  /// Nil for a bucket that no writer makes: that one is to be read anew each time.
  static func pack(_ bucket: RawSpan, count: Int) -> [UInt8]? {
    guard let taken = SnapshotBucket.slots(bucket, count: count) else { return nil }
    let width = count <= 1 << 24 ? 3 : 4
    var packed: [UInt8] = []
    packed.reserveCapacity(headBytes + taken * (2 + width))
    packed.append(UInt64(taken), 2)
    packed.append(UInt64(width), 2)
    for slot in 0..<taken { packed.append(UInt64(bucket.u32(slot * 4)), 2) }
    for slot in 0..<taken { packed.append(UInt64(SnapshotBucket.index(slot, in: bucket)), width) }
    return packed
  }

  /// The records that a search for `tag` comes to, and perhaps others.
  static func matches(_ tag: UInt32, in packed: RawSpan) -> SnapshotBucket.Matches {
    let taken = Int(packed.u16(0))
    let width = Int(packed.u16(2))
    var matches = SnapshotBucket.Matches(goesOn: taken == SnapshotLayout.bucketSlots)
    let tags = packed.extracting(headBytes..<headBytes + 2 * taken)
    let indices = packed.extracting(headBytes + 2 * taken..<packed.byteCount)
    var slot = 0
    while let next = tags.place(of: UInt16(truncatingIfNeeded: tag), from: slot) {
      let at = next * width
      let low = UInt32(indices.u16(at)) | UInt32(indices.u8(at + 2)) << 16
      matches.append(width == 3 ? low : low | UInt32(indices.u8(at + 3)) << 24)
      slot = next + 1
    }
    return matches
  }
}
