/// Collects the keys' hashes, then writes the key table.
///
/// Buckets are in the order of the hashes. So where there are too many entries for memory, they are divided by the
/// hash's top bits into partitions, which go to the spool in chunks; one after the other is then read back and sorted.
struct KeyTableWriter {
  private var entries: [KeyEntry] = []
  private var partitions: [Partition] = []
  private(set) var count: UInt64 = 0

  private struct Partition {
    let pending = ByteBuffer(capacity: KeyTableWriter.chunkBytes)
    var chunks: [UInt64] = []
  }

  private static let partitionBits: UInt64 = 10
  private static let chunkBytes = 682 * KeyEntry.bytes

  @inline(__always)
  mutating func add(hash: UInt64, spool: TableSpool?) throws(StorageError) {
    let entry = KeyEntry(hash: hash, index: UInt32(truncatingIfNeeded: count))
    count &+= 1
    if let spool { try divide(entry, spool) } else { entries.append(entry) }
  }

  /// Moves everything to the spool, where all that comes from then on goes too.
  mutating func spill(to spool: TableSpool) throws(StorageError) {
    partitions = (0..<(1 << KeyTableWriter.partitionBits)).map { _ in Partition() }
    for entry in entries { try divide(entry, spool) }
    entries = []
  }

  private mutating func divide(_ entry: KeyEntry, _ spool: TableSpool) throws(StorageError) {
    let partition = Int(entry.hash >> (64 - KeyTableWriter.partitionBits))
    let pending = partitions[partition].pending
    pending.append(entry.hash)
    pending.append(entry.index)
    if pending.count == KeyTableWriter.chunkBytes {
      let place = try spool.append(pending)
      partitions[partition].chunks.append(place)
    }
  }

  func write(to output: SnapshotOutput, codec: FrameCodec, spool: TableSpool?) throws(StorageError) {
    let buckets = SnapshotLayout.buckets(count: count)
    // Once without output, for what the last buckets cannot take: it belongs into the first.
    var lap = BucketFiller(buckets: buckets)
    var filler: BucketFiller
    if let spool {
      for partition in partitions.indices {
        for entry in try gather(partition, buckets, spool) { try lap.add(entry, to: nil) }
      }
      try lap.finish(to: nil)
      filler = BucketFiller(buckets: buckets, after: lap)
      for partition in partitions.indices {
        for entry in try gather(partition, buckets, spool) { try filler.add(entry, to: (output, codec)) }
      }
    } else {
      let sorted = KeyEntry.sorted(entries, buckets: buckets, in: 0..<buckets)
      for entry in sorted { try lap.add(entry, to: nil) }
      try lap.finish(to: nil)
      filler = BucketFiller(buckets: buckets, after: lap)
      for entry in sorted { try filler.add(entry, to: (output, codec)) }
    }
    try filler.finish(to: (output, codec))
  }

  /// A partition's entries, by bucket.
  private func gather(_ number: Int, _ buckets: UInt64, _ spool: TableSpool) throws(StorageError) -> [KeyEntry] {
    let partition = partitions[number]
    let bytes = ByteBuffer(capacity: partition.chunks.count * KeyTableWriter.chunkBytes + partition.pending.count)
    for place in partition.chunks { try spool.read(place, count: KeyTableWriter.chunkBytes, into: bytes) }
    bytes.append(partition.pending, 0..<partition.pending.count)
    let entries = bytes.lend(0..<bytes.count) { span in
      (0..<span.byteCount / KeyEntry.bytes).map { number in
        let at = number * KeyEntry.bytes
        return KeyEntry(hash: span.u64(at), index: span.u32(at + 8))
      }
    }
    let shift = 64 - KeyTableWriter.partitionBits
    let lowest = SnapshotLayout.bucket(UInt64(number) << shift, of: buckets)
    let highest = SnapshotLayout.bucket((UInt64(number) << shift) | ((1 << shift) - 1), of: buckets)
    return KeyEntry.sorted(entries, buckets: buckets, in: lowest..<highest + 1)
  }
}
