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
    var left: [KeyEntry] = []
    var first = 0
    while first < sorted.count {
      let bucket = SnapshotLayout.bucket(sorted[first].hash, of: buckets)
      if number != bucket { try open(bucket) }
      first = passOver(sorted, from: first, home: bucket, of: buckets, leaving: &left)
      for entry in left {
        if let finding = try search(entry, buckets) { findings.append(finding) }
      }
    }
    return findings
  }

  /// Goes over the entries from `first` on whose home is `bucket`, the one at hand; returns where they end. Leaves those
  /// that the bucket does not give at once: most often none, and nothing is counted or allocated for the others.
  private func passOver(
    _ sorted: [KeyEntry], from first: Int, home bucket: UInt64, of buckets: UInt64, leaving left: inout [KeyEntry]
  ) -> Int {
    left.removeAll(keepingCapacity: true)
    var next = first
    guard let payload else {
      while next < sorted.count, SnapshotLayout.bucket(sorted[next].hash, of: buckets) == bucket { next += 1 }
      return next
    }
    window.buffer.lend(payload) { slots in
      let taken = SnapshotBucket.taken(slots)
      while next < sorted.count {
        let entry = sorted[next]
        guard SnapshotLayout.bucket(entry.hash, of: buckets) == bucket else { break }
        if !SnapshotBucket.gives(entry, first: taken, in: slots) { left.append(entry) }
        next += 1
      }
    }
    return next
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
