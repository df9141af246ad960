internal import Synchronization

/// Reading a record's bytes: from a block, from one frame, or from parts.
extension SnapshotReader {
  func load(_ index: Int) throws(LogStoreError) -> Loaded {
    let place = try place(of: index)
    if let loaded = try loadFromBlock(index, place) { return loaded }
    return try load(index, place)
  }

  /// The record, if its place is a block that is at hand.
  func loadFromBlock(_ index: Int, _ place: Place) throws(LogStoreError) -> Loaded? {
    guard hasBlocks.load(ordering: .relaxed), let block = blocks.frame(at: place.offset) else { return nil }
    return try record(index, in: block.bytes, of: block.records, place)
  }

  /// Reads the record with one call. The bytes are nobody else's, unless the place is a block.
  func load(_ index: Int, _ place: Place) throws(LogStoreError) -> Loaded {
    let bytes = try source.bytes(at: place.offset, count: place.span)
    guard case .good(let type, let length) = source.codec.check(bytes, offset: place.offset) else {
      throw source.damaged(place.offset, "record \(index) does not verify")
    }
    let isWhole = Limits.frameOverhead + length == bytes.count && type.isFirst && type.isLast
    let payload = Limits.frameOverhead..<Limits.frameOverhead + length
    switch type.kind {
    case .record where isWhole:
      guard let places = bytes.lend(payload, { RecordFormat.record($0, at: payload.lowerBound) }) else {
        throw source.damaged(place.offset, "record \(index) is malformed")
      }
      return Loaded(bytes: bytes, places: places)
    case .block where isWhole:
      guard let head = bytes.lend(payload, { BlockHead($0, count: count) }),
        let raw = bytes.lend(payload, { head.inflate($0, with: Inflater()) })
      else { throw source.damaged(place.offset, "the block of record \(index) is malformed") }
      if !hasBlocks.exchange(true, ordering: .relaxed) { tables.limit(to: blocks.bytes) }
      blocks.insert(FrameCache.Frame(bytes: raw, records: head.records), at: place.offset)
      return try record(index, in: raw, of: head.records, place)
    case .part where type.isFirst && !type.isLast:
      return try assemble(index, bytes, place)
    default:
      throw source.misplaced(type.kind, place.offset, expected: "record \(index)")
    }
  }

  private func record(
    _ index: Int, in block: [UInt8], of records: Range<Int>, _ place: Place
  ) throws(LogStoreError) -> Loaded {
    guard records.contains(index) else {
      throw source.damaged(place.offset, "record \(index) is not in the block that the order table gives")
    }
    let places = block.lend(0..<block.count) { span in
      var position = 0
      for _ in records.lowerBound..<index {
        position = RecordFormat.checkedBlockRecord(span, at: position).value.upperBound
      }
      return RecordFormat.checkedBlockRecord(span, at: position)
    }
    return Loaded(bytes: block, places: places, isShared: true)
  }

  /// Puts the value's parts together in the memory that they were read into; the key goes behind them.
  private func assemble(_ index: Int, _ read: consuming [UInt8], _ place: Place) throws(LogStoreError) -> Loaded {
    var bytes = read
    var position = 0
    var end = 0
    while true {
      let offset = place.offset + UInt64(position)
      let check = source.codec.check(bytes, position, offset: offset)
      try source.refuseReserved(check, offset)
      guard case .good(let type, let length) = check, type.isFirst == (position == 0) else {
        throw source.damaged(offset, "a part of record \(index) does not verify")
      }
      let payload = position + Limits.frameOverhead..<position + Limits.frameOverhead + length
      if type.kind == .part, !type.isLast, payload.upperBound < bytes.count {
        bytes.move(payload, to: end)
        end += length
        position = payload.upperBound
        continue
      }
      guard type.kind == .record, type.isLast, payload.upperBound == bytes.count,
        let places = bytes.lend(payload, { RecordFormat.record($0, at: payload.lowerBound) })
      else { throw source.damaged(offset, "record \(index) does not end as it should") }
      let key = Array(bytes[places.key])
      bytes.move(places.value, to: end)
      end += places.value.count
      bytes.removeSubrange(end...)
      bytes.append(contentsOf: key)
      return Loaded(bytes: bytes, places: RecordPlaces(key: end..<end + key.count, value: 0..<end))
    }
  }
}
