/// The two tables, used in place through the cache.
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
    let payload = min(SnapshotLayout.orderEntries, count - first) * SnapshotLayout.orderEntryBytes
    let bytes = try tableFrame(at: offset, payload: payload, kind: .order)
    let entry = Limits.frameOverhead + (index - first) * SnapshotLayout.orderEntryBytes
    let place = Place(offset: bytes.u64(entry), span: Int(bytes.u32(entry + 8)))
    guard isPossible(place) else {
      throw source.damaged(offset, "the order table gives record \(index) an impossible place")
    }
    return place
  }

  func isPossible(_ place: Place) -> Bool {
    place.offset >= footer.recordsOffset && place.offset < footer.orderOffset && place.span > Limits.frameOverhead
      && UInt64(place.span) <= footer.orderOffset - place.offset && place.span <= Limits.batchBytes
  }

  /// A frame of a table, whole.
  func tableFrame(at offset: UInt64, payload: Int, kind: FrameKind) throws(LogStoreError) -> [UInt8] {
    if let frame = cache.frame(at: offset) { return frame.bytes }
    let bytes = try source.bytes(at: offset, count: payload + Limits.frameOverhead)
    let check = source.codec.check(bytes, offset: offset)
    guard case .good(FrameType(kind), payload) = check else {
      try source.refuseReserved(check, offset)
      throw source.damaged(offset, "a frame of the \(kind) table does not verify")
    }
    cache.insert(FrameCache.Frame(bytes: bytes), at: offset)
    return bytes
  }

  func hash(_ key: RawSpan) -> UInt64 { SipHash(k0: header.salt, k1: header.generation).hash(key) }

  /// The records whose key may have the hash, one by one.
  struct Candidates {
    private let tag: UInt32
    private var bucket: UInt64
    private var left: UInt64
    private var slot = 0
    private var bytes: [UInt8] = []

    init(_ hash: UInt64, buckets: UInt64) {
      tag = UInt32(truncatingIfNeeded: hash)
      bucket = SnapshotLayout.bucket(hash, of: buckets)
      left = buckets
    }

    mutating func next(_ reader: SnapshotReader) throws(LogStoreError) -> Int? {
      while true {
        if bytes.isEmpty {
          guard left > 0 else { return nil }
          bytes = try reader.tableFrame(
            at: offset(reader), payload: SnapshotLayout.bucketBytes, kind: .keys)
          slot = 0
        }
        while slot < SnapshotLayout.bucketSlots {
          let tagAt = Limits.frameOverhead &+ slot &* 4
          if bytes.u32(tagAt) == tag {
            let index = bytes.u32(tagAt &+ SnapshotLayout.bucketSlots &* 4)
            slot += 1
            // Slots fill from the start, so an empty one is the end of the search.
            if index == SnapshotLayout.emptySlot { return finish() }
            guard Int(index) < reader.count else {
              throw reader.source.damaged(offset(reader), "the key table names a record that there is none of")
            }
            return Int(index)
          }
          slot &+= 1
        }
        // Only a full bucket sends the search on.
        let last = Limits.frameOverhead + (2 * SnapshotLayout.bucketSlots - 1) * 4
        if bytes.u32(last) == SnapshotLayout.emptySlot { return finish() }
        left -= 1
        bucket = bucket + 1 == reader.footer.buckets ? 0 : bucket + 1
        bytes = []
      }
    }

    private mutating func finish() -> Int? {
      left = 0
      bytes = []
      return nil
    }

    private func offset(_ reader: SnapshotReader) -> UInt64 {
      reader.footer.keysOffset + bucket * UInt64(SnapshotLayout.bucketFrameBytes)
    }
  }
}
