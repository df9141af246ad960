internal import Synchronization

/// Single records, by index or by key.
extension SnapshotReader {
  /// A record as it was read: bytes that hold it, and where.
  struct Loaded {
    var bytes: [UInt8]
    var places: RecordPlaces
    /// Whether the bytes are a block's, which others read too.
    var isShared = false

    var key: [UInt8] { Array(bytes[places.key]) }

    /// The value, in the memory that it was read into where nobody shares that.
    consuming func intoValue() -> [UInt8] {
      if isShared { return Array(bytes[places.value]) }
      let value = places.value
      var result = bytes
      bytes = []
      result.removeSubrange(value.upperBound...)
      result.removeSubrange(..<value.lowerBound)
      return result
    }
  }

  func index(of key: RawSpan) throws(LogStoreError) -> Int? {
    guard count > 0, key.byteCount >= 1, key.byteCount <= Limits.keyBytes else { return nil }
    let hash = hash(key)
    var candidates = Candidates(hash, buckets: footer.buckets)
    while let index = try candidates.next(self) {
      do throws(LogStoreError) {
        switch try glance(at: index, for: key, hash, { _ in }) {
        case .found: return index
        case .another: continue
        case .unclear: break
        }
        if try isRecord(loadKey(index), at: index, the: key, hash) { return index }
      } catch {
        guard candidates.startOver() else { throw error }
      }
    }
    return nil
  }

  func key(at index: Int) throws(LogStoreError) -> [UInt8] { try loadKey(index).key }

  func value(at index: Int) throws(LogStoreError) -> [UInt8] {
    try load(index).intoValue()
  }

  /// Index and value of a key's record in one go: three reads where nothing is cached, one where the tables are, which is also so for
  /// most keys that have no record.
  func find(_ key: RawSpan) throws(LogStoreError) -> (index: Int, value: [UInt8])? {
    guard count > 0, key.byteCount >= 1, key.byteCount <= Limits.keyBytes else { return nil }
    let hash = hash(key)
    var candidates = Candidates(hash, buckets: footer.buckets)
    while let index = try candidates.next(self) {
      do throws(LogStoreError) {
        switch try glance(at: index, for: key, hash, { $0.array }) {
        case .found(let value): return (index, value)
        case .another: continue
        case .unclear: break
        }
        let loaded = try load(index)
        if try isRecord(loaded, at: index, the: key, hash) { return (index, loaded.intoValue()) }
      } catch {
        guard candidates.startOver() else { throw error }
      }
    }
    return nil
  }

  private enum Glance<Found> {
    case found(Found)
    /// A record whose key has the same tag.
    case another
    /// Not what is usual, or damage: for `load` to say.
    case unclear
  }

  /// Up to here a record is read into memory for the moment, and its value copied.
  private static let shortSpan = 16 << 10

  /// Looks for the key in what most candidates are: a short record, in one frame.
  @inline(__always)
  private func glance<Found>(
    at index: Int, for key: RawSpan, _ hash: UInt64, _ take: (_ value: RawSpan) -> Found
  ) throws(LogStoreError) -> Glance<Found> {
    let place = try place(of: index)
    guard place.span <= SnapshotReader.shortSpan, !hasBlocks.load(ordering: .relaxed) else { return .unclear }
    return try source.lend(at: place.offset, count: place.span) { bytes in
      guard case .good(FrameType.wholeRecord, let length) = source.codec.check(bytes, offset: place.offset),
        Limits.frameOverhead + length == bytes.byteCount
      else { return .unclear }
      let payload = bytes.extracting(Limits.frameOverhead..<bytes.byteCount)
      guard let places = RecordFormat.record(payload, at: 0) else { return .unclear }
      let found = payload.extracting(places.key)
      if found.hasSameBytes(as: key) { return .found(take(payload.extracting(places.value))) }
      return UInt32(truncatingIfNeeded: self.hash(found)) == UInt32(truncatingIfNeeded: hash) ? .another : .unclear
    }
  }

  func withRecord<Result>(
    at index: Int, _ body: (_ key: RawSpan, _ value: RawSpan) throws -> Result
  ) throws -> Result {
    let loaded = try load(index)
    return try loaded.bytes.lend(loaded.places.key, loaded.places.value, body)
  }

  /// Whether a candidate is the record searched for. One that is not must have the same tag by chance: otherwise the
  /// tables and the records do not belong together, and "absent" would be a lie.
  private func isRecord(
    _ loaded: Loaded, at index: Int, the key: RawSpan, _ hash: UInt64
  ) throws(LogStoreError) -> Bool {
    let isEqual = loaded.bytes.lend(loaded.places.key) { $0.hasSameBytes(as: key) }
    if isEqual { return true }
    let other = loaded.bytes.lend(loaded.places.key) { self.hash($0) }
    guard UInt32(truncatingIfNeeded: other) == UInt32(truncatingIfNeeded: hash) else {
      throw source.damaged(footer.keysOffset, "the key table gives record \(index) a key that it does not have")
    }
    return false
  }

  /// The record with its key, and its value only where that costs little.
  private func loadKey(_ index: Int) throws(LogStoreError) -> Loaded {
    let place = try place(of: index)
    if let loaded = try loadFromBlock(index, place) { return loaded }
    if place.span > SnapshotReader.longSpan, let frame = try lastFrame(place) {
      let bytes = try source.bytes(at: frame.offset, count: frame.span)
      let check = source.codec.check(bytes, offset: frame.offset)
      try source.refuseReserved(check, frame.offset)
      guard case .good(let type, let length) = check,
        Limits.frameOverhead + length == bytes.count, type == FrameType(.record, first: false),
        let places = bytes.lend(
          Limits.frameOverhead..<bytes.count, { RecordFormat.record($0, at: Limits.frameOverhead) })
      else { throw source.damaged(frame.offset, "record \(index) does not verify") }
      return Loaded(bytes: bytes, places: places)
    }
    return try load(index, place)
  }

  /// From here on the key of a record in parts is read without the parts.
  private static let longSpan = 256 << 10

  /// The last frame of a record in parts, found by the lengths of those in front of it; it is still to be verified.
  /// Nil where it is simpler to read all.
  private func lastFrame(_ place: Place) throws(LogStoreError) -> Place? {
    let end = place.offset + UInt64(place.span)
    var offset = place.offset
    for _ in 0..<4096 {
      guard end - offset >= UInt64(Limits.frameOverhead) else { return nil }
      let head = try source.bytes(at: offset, count: Limits.frameOverhead)
      let span = UInt64(head.u32(0)) + UInt64(Limits.frameOverhead)
      guard span <= end - offset else { return nil }
      if span == end - offset { return offset == place.offset ? nil : Place(offset: offset, span: Int(span)) }
      offset += span
    }
    return nil
  }
}
