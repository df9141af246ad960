/// Looks every record up in the key table, many at a time and sorted by bucket, so that the table is read from front to
/// back and not at random.
struct KeyCheck {
  private let reader: SnapshotReader
  private let window: FrameWindow
  private var entries: [KeyEntry] = []
  /// The bucket at hand, and where its payload stands in the window; nil if it does not verify.
  private var number = UInt64.max
  private var payload: Range<Int>?

  private let batch: Int

  /// `batch` is how many are looked up at once; only tests lower it.
  init(_ reader: SnapshotReader, batch: Int = 1 << 18) {
    self.reader = reader
    self.batch = batch
    window = FrameWindow(reader.source)
  }

  /// Notes a record's key, to be looked up by `finish`.
  mutating func add(_ index: Int, _ hash: UInt64) {
    entries.append(KeyEntry(hash: hash, index: UInt32(truncatingIfNeeded: index)))
  }

  /// Whether it is time to finish.
  var isFull: Bool { entries.count >= batch }

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
