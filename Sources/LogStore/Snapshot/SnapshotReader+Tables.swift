/// The two tables, of which as much is kept in memory as the caches take.
extension SnapshotReader {
  /// Where a record's first frame, or its block, stands.
  struct Place: Equatable {
    var offset: UInt64
    var span: Int
  }

  func place(of index: Int) throws(LogStoreError) -> Place {
    precondition(index >= 0 && index < count)
    let frame = index / SnapshotLayout.orderEntries
    let offset = footer.orderOffset + UInt64(frame * SnapshotLayout.orderFrameBytes)
    let first = frame * SnapshotLayout.orderEntries
    let place: Place
    switch tables.look(at: offset, { PackedOrder.place(index - first, in: $0) }) {
    case .held(let found): place = found
    case .absent(let isWanted):
      let payload = min(SnapshotLayout.orderEntries, count - first) * SnapshotLayout.orderEntryBytes
      place = try tableFrame(at: offset, payload: payload, kind: .order) { entries in
        if isWanted { tables.insert(FrameCache.Frame(bytes: PackedOrder.pack(entries)), at: offset) }
        return PackedOrder.place(entries, index - first)
      }
    }
    guard isPossible(place) else {
      throw source.damaged(offset, "the order table gives record \(index) an impossible place")
    }
    return place
  }

  func isPossible(_ place: Place) -> Bool {
    place.offset >= footer.recordsOffset && place.offset < footer.orderOffset && place.span > Limits.frameOverhead
      && UInt64(place.span) <= footer.orderOffset - place.offset && place.span <= Limits.batchBytes
  }

  /// Reads a frame of a table, verifies it, and lends its payload.
  private func tableFrame<Result>(
    at offset: UInt64, payload: Int, kind: FrameKind, _ body: (RawSpan) -> Result
  ) throws(LogStoreError) -> Result {
    let (check, result) = try source.lend(at: offset, count: payload + Limits.frameOverhead) {
      bytes -> (FrameCheck, Result?) in
      let check = source.codec.check(bytes, offset: offset)
      guard case .good(FrameType(kind), payload) = check else { return (check, nil) }
      return (check, body(bytes.extracting(Limits.frameOverhead..<bytes.byteCount)))
    }
    guard let result else {
      try source.refuseReserved(check, offset)
      throw source.damaged(offset, "a frame of the \(kind) table does not verify")
    }
    return result
  }

  func hash(_ key: RawSpan) -> UInt64 { SipHash(k0: header.salt, k1: header.generation).hash(key) }

  /// The records whose key may have the hash, one by one.
  struct Candidates {
    private let hash: UInt64
    private let buckets: UInt64
    /// The next bucket to be searched, how many there are left, and what the last one held.
    private var bucket: UInt64
    private var left: UInt64
    private var matches = SnapshotBucket.Matches(goesOn: true)
    /// Whether buckets are read from the file, also those that are kept.
    private let asksFile: Bool
    /// Whether a bucket was searched as it is kept, and not as it stands in the file.
    private var wasPacked = false

    init(_ hash: UInt64, buckets: UInt64, asksFile: Bool = false) {
      self.hash = hash
      self.buckets = buckets
      self.asksFile = asksFile
      bucket = SnapshotLayout.bucket(hash, of: buckets)
      left = buckets
    }

    /// After a record that is not the one searched for: what is kept of a bucket leads to others, too, and then the search
    /// starts over in the file. False where it was made there: then that record means something.
    mutating func startOver() -> Bool {
      guard wasPacked else { return false }
      self = Candidates(hash, buckets: buckets, asksFile: true)
      return true
    }

    mutating func next(_ reader: SnapshotReader) throws(LogStoreError) -> Int? {
      while true {
        if let index = matches.popFirst() {
          guard Int(index) < reader.count else {
            let last = (bucket == 0 ? reader.footer.buckets : bucket) - 1
            throw reader.source.damaged(
              reader.offset(ofBucket: last), "the key table names a record that there is none of")
          }
          return Int(index)
        }
        guard left > 0, matches.goesOn else { return nil }
        let (found, isPacked) = try reader.matches(
          UInt32(truncatingIfNeeded: hash), inBucket: bucket, asksFile: asksFile)
        matches = found
        if isPacked { wasPacked = true }
        left -= 1
        bucket = bucket + 1 == reader.footer.buckets ? 0 : bucket + 1
      }
    }
  }

  private func offset(ofBucket bucket: UInt64) -> UInt64 {
    footer.keysOffset + bucket * UInt64(SnapshotLayout.bucketFrameBytes)
  }

  private func matches(
    _ tag: UInt32, inBucket bucket: UInt64, asksFile: Bool
  ) throws(LogStoreError) -> (SnapshotBucket.Matches, isPacked: Bool) {
    let offset = offset(ofBucket: bucket)
    var isWanted = false
    if !asksFile {
      switch tables.look(at: offset, { PackedBucket.matches(tag, in: $0) }) {
      case .held(let matches): return (matches, true)
      case .absent(let itIs): isWanted = itIs
      }
    }
    let matches = try tableFrame(at: offset, payload: SnapshotLayout.bucketBytes, kind: .keys) { bucket in
      if isWanted, let packed = PackedBucket.pack(bucket, count: count) {
        tables.insert(FrameCache.Frame(bytes: packed), at: offset)
      }
      return SnapshotBucket.matches(tag, in: bucket)
    }
    return (matches, false)
  }
}
