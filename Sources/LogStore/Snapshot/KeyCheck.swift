/// Looks every record up in the key table, many at a time and sorted by bucket, so that the table is read from front to
/// back and not at random.
struct KeyCheck {
  private let reader: SnapshotReader
  private let window: FrameWindow
  private var entries: [KeyEntry] = []

  private let batch: Int

  /// `batch` is how many are looked up at once; only tests lower it.
  init(_ reader: SnapshotReader, batch: Int = 1 << 18) {
    self.reader = reader
    self.batch = batch
    window = FrameWindow(reader.source)
  }

  mutating func add(_ index: Int, _ hash: UInt64) throws(LogStoreError) -> [Finding] {
    entries.append(KeyEntry(hash: hash, index: UInt32(truncatingIfNeeded: index)))
    return entries.count < batch ? [] : try finish()
  }

  /// Looks up what has come since the last time.
  mutating func finish() throws(LogStoreError) -> [Finding] {
    let buckets = reader.footer.buckets
    let sorted = KeyEntry.sorted(entries, buckets: buckets, in: 0..<buckets)
    entries.removeAll(keepingCapacity: true)
    var findings: [Finding] = []
    for entry in sorted {
      if let finding = try search(entry, buckets) { findings.append(finding) }
    }
    return findings
  }

  /// A finding if the search for the record's key does not come to the record. A bucket that does not verify is
  /// reported elsewhere.
  private func search(_ entry: KeyEntry, _ buckets: UInt64) throws(LogStoreError) -> Finding? {
    let size = UInt64(SnapshotLayout.bucketFrameBytes)
    let home = SnapshotLayout.bucket(entry.hash, of: buckets)
    var bucket = home
    for _ in 0..<buckets {
      let offset = reader.footer.keysOffset + bucket * size
      guard let frame = try window.frame(at: offset, limit: reader.footerOffset), frame.type == FrameType(.keys),
        frame.end == offset + size
      else { return nil }
      switch window.buffer.lend(frame.payload, { KeyCheck.find(entry, $0) }) {
      case .found(let earlier):
        // An impossible index is reported with its bucket.
        for index in earlier.filter({ $0 < reader.count })
        where try reader.key(at: index) == reader.key(at: Int(entry.index)) {
          return .damagedSnapshot(
            reader.name, reader.footer.recordsOffset..<reader.footer.orderOffset,
            "records \(index) and \(entry.index) have the same key")
        }
        return nil
      case .absent:
        let start = reader.footer.keysOffset + home * size
        return .damagedSnapshot(
          reader.name, start..<start + size, "the key table does not give record \(entry.index)")
      case .further: bucket = bucket + 1 == buckets ? 0 : bucket + 1
      }
    }
    return nil
  }

  private enum Outcome {
    /// With the records of the same tag that a search comes to before.
    case found([Int])
    case absent
    case further
  }

  private static func find(_ entry: KeyEntry, _ bucket: RawSpan) -> Outcome {
    let tag = UInt32(truncatingIfNeeded: entry.hash)
    var earlier: [Int] = []
    for slot in 0..<SnapshotLayout.bucketSlots {
      let index = bucket.u32((SnapshotLayout.bucketSlots &+ slot) &* 4)
      if index == SnapshotLayout.emptySlot { return .absent }
      guard bucket.u32(slot &* 4) == tag else { continue }
      if index == entry.index { return .found(earlier) }
      earlier.append(Int(index))
    }
    return .further
  }

  /// How many slots of a bucket are taken; nil unless it is filled from its start, with possible records, and empty
  /// behind them.
  static func slots(_ bucket: RawSpan, count: Int) -> Int? {
    var taken = 0
    for slot in 0..<SnapshotLayout.bucketSlots {
      let index = bucket.u32((SnapshotLayout.bucketSlots &+ slot) &* 4)
      if index == SnapshotLayout.emptySlot {
        guard bucket.u32(slot &* 4) == 0 else { return nil }
      } else {
        guard taken == slot, Int(index) < count else { return nil }
        taken += 1
      }
    }
    return taken
  }
}
