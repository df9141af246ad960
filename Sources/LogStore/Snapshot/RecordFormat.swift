/// Where key and value stand in the bytes of one record.
struct RecordPlaces: Equatable {
  var key: Range<Int>
  var value: Range<Int>
}

/// The payloads that hold records.
enum RecordFormat {
  /// Key and value of a record frame's payload that begins at `start`; nil if it is malformed.
  @inline(__always)
  static func record(_ payload: RawSpan, at start: Int) -> RecordPlaces? {
    guard payload.byteCount >= 2 else { return nil }
    let length = Int(payload.u16(0))
    guard length >= 1, length <= Limits.keyBytes, length &+ 2 <= payload.byteCount else { return nil }
    let key = start &+ 2
    return RecordPlaces(key: key..<key &+ length, value: key &+ length..<start &+ payload.byteCount)
  }

  /// The record of an inflated block that begins at `position`; nil if it is malformed.
  @inline(__always)
  static func blockRecord(_ block: RawSpan, at position: Int) -> RecordPlaces? {
    let head = SnapshotLayout.blockRecordHeadBytes
    guard block.byteCount &- position >= head else { return nil }
    let keyLength = Int(block.u16(position))
    let valueLength = Int(block.u32(position &+ 2))
    guard keyLength >= 1, keyLength <= Limits.keyBytes,
      keyLength &+ valueLength <= block.byteCount &- position &- head
    else { return nil }
    return places(position, keyLength, valueLength)
  }

  /// The same in a block that has been checked.
  @inline(__always)
  static func checkedBlockRecord(_ block: RawSpan, at position: Int) -> RecordPlaces {
    places(position, Int(block.u16(position)), Int(block.u32(position &+ 2)))
  }

  @inline(__always)
  private static func places(_ position: Int, _ keyLength: Int, _ valueLength: Int) -> RecordPlaces {
    let key = position &+ SnapshotLayout.blockRecordHeadBytes
    return RecordPlaces(key: key..<key &+ keyLength, value: key &+ keyLength..<key &+ keyLength &+ valueLength)
  }
}

/// What stands in front of a block's deflated bytes.
struct BlockHead {
  var records: Range<Int>
  var rawLength: Int

  /// Nil unless the block's claims are possible in a snapshot of `count` records.
  init?(_ payload: RawSpan, count: Int) {
    guard payload.byteCount > SnapshotLayout.blockHeadBytes else { return nil }
    let first = payload.u64(0)
    let length = Int(payload.u32(8))
    let raw = Int(payload.u32(12))
    guard length >= 1, first <= UInt64(count), length <= count - Int(first) else { return nil }
    // A record takes at least its head and one byte of key.
    guard raw <= SnapshotLayout.blockBytes, length * (SnapshotLayout.blockRecordHeadBytes + 1) <= raw else {
      return nil
    }
    records = Int(first)..<Int(first) + length
    rawLength = raw
  }

  /// Inflates the block and checks that it holds exactly its records; nil if it does not.
  func inflate(_ payload: RawSpan, with inflater: Inflater) -> [UInt8]? {
    let data = payload.extracting(SnapshotLayout.blockHeadBytes..<payload.byteCount)
    guard let bytes = inflater.inflate(data, rawLength: rawLength) else { return nil }
    let isWhole = bytes.lend(0..<rawLength) { span in
      var position = 0
      for _ in records {
        guard let places = RecordFormat.blockRecord(span, at: position) else { return false }
        position = places.value.upperBound
      }
      return position == rawLength
    }
    return isWhole ? bytes : nil
  }
}
