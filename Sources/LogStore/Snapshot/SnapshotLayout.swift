/// The sizes that the format gives a snapshot's sections. None of the sums can overflow: there are fewer than 2³²
/// records.
enum SnapshotLayout {
  static let lossFrameBytes = Limits.frameOverhead + LossRecord.payloadBytes
  static let footerFrameBytes = Limits.frameOverhead + SnapshotFooter.payloadBytes

  /// Entries of an order frame, and bytes of an entry.
  static let orderEntries = 128
  static let orderEntryBytes = 12
  static let orderFrameBytes = Limits.frameOverhead + orderEntries * orderEntryBytes

  /// Slots of a bucket of the key table: that many tags, then that many indices.
  static let bucketSlots = 128
  static let bucketBytes = bucketSlots * 8
  static let bucketFrameBytes = Limits.frameOverhead + bucketBytes
  static let recordsPerBucket: UInt64 = 96
  static let emptySlot: UInt32 = 0xFFFF_FFFF

  static let maximumRecords: UInt64 = 0x7FFF_FFFF

  /// What stands in front of a block's deflated bytes, and the most they may inflate to.
  static let blockHeadBytes = 16
  static let blockBytes = 1 << 20
  /// What stands in front of a record's key inside a block.
  static let blockRecordHeadBytes = 6

  static func orderBytes(count: UInt64) -> UInt64 {
    let frames = (count + UInt64(orderEntries) - 1) / UInt64(orderEntries)
    return count * UInt64(orderEntryBytes) + frames * UInt64(Limits.frameOverhead)
  }

  static func buckets(count: UInt64) -> UInt64 { (count + recordsPerBucket - 1) / recordsPerBucket }

  /// The bucket where the search for a hash begins.
  @inline(__always)
  static func bucket(_ hash: UInt64, of buckets: UInt64) -> UInt64 { hash.multipliedFullWidth(by: buckets).high }
}
