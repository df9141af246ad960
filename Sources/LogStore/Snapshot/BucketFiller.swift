/// Lays entries that come in the order of their buckets into the key table: what a full bucket cannot take goes on
/// into the next, in front of the next one's own. Within a bucket entries stand by index, so that the table does not
/// depend on how the entries were gathered.
struct BucketFiller {
  private struct Slot {
    var tag: UInt32
    var index: UInt32
  }

  private let buckets: UInt64
  private var bucket: UInt64 = 0
  private var own: [Slot] = []
  private var isOrdered = true
  /// What earlier buckets could not take.
  private var carried: [Slot] = []

  /// Starts over with what `lap` could not place in front of the end: it goes on at the first bucket. What is carried
  /// past the end does not depend on what was carried into the beginning, since no table is more than three quarters
  /// full: somewhere a bucket takes all that is carried.
  init(buckets: UInt64, after lap: BucketFiller? = nil) {
    self.buckets = buckets
    carried = lap?.carried ?? []
  }

  /// Takes an entry; those of the buckets before its own must have come. Finished buckets go to `output`.
  mutating func add(_ entry: KeyEntry, to output: (SnapshotOutput, FrameCodec)?) throws(StorageError) {
    let home = SnapshotLayout.bucket(entry.hash, of: buckets)
    while bucket < home { try close(to: output) }
    if let last = own.last, last.index > entry.index { isOrdered = false }
    own.append(Slot(tag: UInt32(truncatingIfNeeded: entry.hash), index: entry.index))
  }

  mutating func finish(to output: (SnapshotOutput, FrameCodec)?) throws(StorageError) {
    while bucket < buckets { try close(to: output) }
  }

  private mutating func close(to output: (SnapshotOutput, FrameCodec)?) throws(StorageError) {
    if !isOrdered { own.sort { $0.index < $1.index } }
    if !carried.isEmpty {
      // What was carried comes first.
      carried.append(contentsOf: own)
      swap(&carried, &own)
      carried.removeAll(keepingCapacity: true)
    }
    let taken = min(own.count, SnapshotLayout.bucketSlots)
    if let (output, codec) = output {
      let start = output.buffer.openFrame()
      for slot in 0..<SnapshotLayout.bucketSlots { output.buffer.append(slot < taken ? own[slot].tag : 0) }
      for slot in 0..<SnapshotLayout.bucketSlots {
        output.buffer.append(slot < taken ? own[slot].index : SnapshotLayout.emptySlot)
      }
      output.buffer.sealFrame(start, FrameType(.keys), offset: output.offset(of: start), codec: codec)
      try output.flushIfFull()
    }
    if own.count > taken { carried.append(contentsOf: own[taken...]) }
    own.removeAll(keepingCapacity: true)
    isOrdered = true
    bucket += 1
  }
}
