/// Looks every record up in the key table. The table is read from front to back, and each of its entries compared with the
/// hash that its record's key was found to have: nothing is sorted, and few records are searched for one by one.
///
/// The hashes of many records are gathered at once, and the table is gone over for each such batch.
struct KeyCheck {
  private let reader: SnapshotReader
  private let window: FrameWindow
  /// The hashes of the records from `first` on; 0 for those that need no search: which the table was seen to give, or which
  /// do not verify and have none.
  private var hashes: [UInt64] = []
  private var first = 0
  /// Records that are to be searched for in any case.
  private var left: [KeyEntry] = []
  /// By a part of a tag, the bucket in which one like it was last seen.
  private var seen = [UInt32](repeating: .max, count: KeyCheck.seenTags)
  /// The hashes of the records that a bucket names, or 0.
  private var named = [UInt64](repeating: 0, count: SnapshotLayout.bucketSlots)
  /// The bucket at hand, and where its payload stands in the window; nil if it does not verify.
  private var number = UInt64.max
  private var payload: Range<Int>?

  private let batch: Int

  /// A power of 2.
  private static let seenTags = 2048

  /// `batch` is how many records are looked up at once; only tests lower it. Where there are many records it takes up to
  /// 32 MiB of memory, since the table is gone over for each batch.
  init(_ reader: SnapshotReader, batch: Int? = nil) {
    self.reader = reader
    self.batch = batch ?? min(max(reader.count / 8, 1 << 20), 1 << 22)
    window = FrameWindow(reader.source)
    hashes.reserveCapacity(min(self.batch, reader.count))
  }

  /// Notes a record's key, to be looked up. Records come in their order; some may be left out.
  mutating func add(_ index: Int, _ hash: UInt64) {
    if hashes.isEmpty { first = index }
    while first + hashes.count < index { hashes.append(0) }
    hashes.append(hash)
    if hash == 0 { left.append(KeyEntry(hash: hash, index: UInt32(truncatingIfNeeded: index))) }
  }

  /// Whether the table is to be gone over before this record is added.
  func isFull(for index: Int) -> Bool { !hashes.isEmpty && index - first >= batch }

  /// Goes over the table, and looks up what has come since the last time.
  mutating func checkAll() throws(LogStoreError) -> [Finding] {
    for bucket in 0..<reader.footer.buckets {
      try open(bucket)
      guard let payload else { continue }
      window.buffer.lend(payload) { take($0, of: bucket) }
    }
    return try finish()
  }

  /// Takes what a bucket gives. A record that stands in its home bucket, the first with its tag, is what a search for its
  /// key comes to.
  mutating func take(_ slots: RawSpan, of bucket: UInt64) {
    guard !hashes.isEmpty else { return }
    let buckets = reader.footer.buckets
    let number = UInt32(truncatingIfNeeded: bucket)
    let taken = SnapshotBucket.taken(slots)
    // They lie anywhere: asked for in a loop that does nothing else, many are on their way at once.
    for slot in 0..<taken {
      let place = Int(SnapshotBucket.index(slot, in: slots)) &- first
      named[slot] = place >= 0 && place < hashes.count ? hashes[place] : 0
    }
    for slot in 0..<taken {
      let tag = slots.u32(slot &* 4)
      let part = Int(truncatingIfNeeded: tag) & (KeyCheck.seenTags &- 1)
      let isFirst = seen[part] != number
      seen[part] = number
      let hash = named[slot]
      guard hash != 0, UInt32(truncatingIfNeeded: hash) == tag, SnapshotLayout.bucket(hash, of: buckets) == bucket,
        isFirst || slots.place(of: tag, from: 0, upTo: slot) == nil
      else { continue }
      hashes[Int(SnapshotBucket.index(slot, in: slots)) &- first] = 0
    }
  }

  /// Searches for the records that the buckets taken did not give so; then it begins anew.
  mutating func finish() throws(LogStoreError) -> [Finding] {
    for place in hashes.indices where hashes[place] != 0 {
      left.append(KeyEntry(hash: hashes[place], index: UInt32(truncatingIfNeeded: first + place)))
    }
    hashes.removeAll(keepingCapacity: true)
    let buckets = reader.footer.buckets
    var findings: [Finding] = []
    // By bucket, so that the table is read from front to back and not at random.
    for entry in KeyEntry.sorted(left, buckets: buckets, in: 0..<buckets) {
      if let finding = try search(entry, buckets) { findings.append(finding) }
    }
    left.removeAll()
    return findings
  }

  /// A finding if the search for the record's key does not come to the record. A bucket that does not verify is
  /// reported elsewhere.
  private mutating func search(_ entry: KeyEntry, _ buckets: UInt64) throws(LogStoreError) -> Finding? {
    let home = SnapshotLayout.bucket(entry.hash, of: buckets)
    var bucket = home
    for _ in 0..<buckets {
      if number != bucket { try open(bucket) }
      guard let payload else { return nil }
      switch window.buffer.lend(payload, { SnapshotBucket.search(entry, in: $0) }) {
      case .found(let earlier):
        // An impossible index is reported with its bucket.
        for index in earlier where index < reader.count {
          guard try reader.key(at: index) == reader.key(at: Int(entry.index)) else { continue }
          return .damagedSnapshot(
            reader.name, reader.footer.recordsOffset..<reader.footer.orderOffset,
            "records \(index) and \(entry.index) have the same key")
        }
        return nil
      case .absent:
        return .damagedSnapshot(reader.name, range(of: home), "the key table does not give record \(entry.index)")
      case .further: bucket = bucket + 1 == buckets ? 0 : bucket + 1
      }
    }
    return nil
  }

  private mutating func open(_ bucket: UInt64) throws(LogStoreError) {
    payload = nil
    number = bucket
    let range = range(of: bucket)
    let frame = try window.frame(at: range.lowerBound, limit: reader.footerOffset)
    if let frame, frame.type == FrameType(.keys), frame.end == range.upperBound { payload = frame.payload }
  }

  private func range(of bucket: UInt64) -> Range<UInt64> {
    let size = UInt64(SnapshotLayout.bucketFrameBytes)
    let start = reader.footer.keysOffset + bucket * size
    return start..<start + size
  }
}
