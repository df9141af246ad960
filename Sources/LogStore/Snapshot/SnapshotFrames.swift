/// What the frames of a snapshot come to, one after another and none kept: whether each may stand where it does, and
/// what must agree in the end.
struct SnapshotFrames {
  private enum Section: Int { case losses, records, order, keys, end }

  private let isTable: Bool
  private let inflater = Inflater()
  /// Where blocks stand that need not be inflated, in ascending order; `passed` of them are behind.
  private var inflated: [UInt64] = []
  private var passed = 0
  private var section = Section.losses
  /// Where sections begin, that of the losses left out.
  private var starts: [UInt64] = []
  /// Where the first part of a value stands whose last has not come.
  private var open: UInt64?
  /// Records, or the application's frames.
  private var count: UInt64 = 0
  private var found = PlaceSum()
  private var listed = PlaceSum()
  /// Entries of the order table, and slots of the key table that are taken.
  private var entries: UInt64 = 0
  private var slots: UInt64 = 0
  private var footer: SnapshotFooter?

  init(isTable: Bool) { self.isTable = isTable }

  /// The blocks at these offsets, which come next, inflate.
  mutating func note(inflated offsets: [UInt64]) {
    inflated.removeFirst(passed)
    passed = 0
    inflated += offsets
  }

  /// Takes a frame that verifies; false if it may not stand there.
  mutating func take(_ type: FrameType, _ payload: RawSpan, at offset: UInt64) -> Bool {
    let end = offset + UInt64(Limits.frameOverhead + payload.byteCount)
    switch type.kind {
    case .loss:
      guard section == .losses, type == FrameType(.loss), LossRecord(decoding: payload) != nil else { return false }
      return true
    case .part:
      guard enter(.records, offset), !type.isLast, isNext(type) else { return false }
      open = open ?? offset
      return true
    case .record:
      guard enter(.records, offset), isTable, type.isLast, isNext(type), RecordFormat.record(payload, at: 0) != nil
      else { return false }
      note(open ?? offset, end)
      open = nil
      return true
    case .block:
      guard enter(.records, offset), isTable, type == FrameType(.block), open == nil else { return false }
      return block(payload, offset, end)
    case .order:
      guard enter(.order, offset), type == FrameType(.order) else { return false }
      return order(payload)
    case .keys:
      guard enter(.keys, offset), type == FrameType(.keys) else { return false }
      return bucket(payload)
    case .footer:
      guard enter(.end, offset), footer == nil, type == FrameType(.footer),
        payload.byteCount == SnapshotFooter.payloadBytes
      else { return false }
      footer = SnapshotFooter(decoding: payload)
      return true
    default:
      guard enter(.records, offset), !isTable, type.kind.isApplication, type.isLast, isNext(type) else { return false }
      open = nil
      count += 1
      return true
    }
  }

  /// Where it shows that what came is not the snapshot that `footer` ends; nil if it is. `end` is the file's.
  func fault(_ footer: SnapshotFooter, end: UInt64) -> UInt64? {
    let last = end - UInt64(SnapshotLayout.footerFrameBytes)
    guard self.footer == footer, starts == [footer.recordsOffset, footer.orderOffset, footer.keysOffset, last],
      count == footer.count
    else { return last }
    return !isTable || entries == count && slots == count && listed == found ? nil : footer.orderOffset
  }

  /// Whether a frame of a section may follow. No section is behind a later one.
  private mutating func enter(_ next: Section, _ offset: UInt64) -> Bool {
    guard next != section else { return true }
    // No value ends in another section.
    guard next.rawValue > section.rawValue, open == nil else { return false }
    for _ in section.rawValue..<next.rawValue { starts.append(offset) }
    section = next
    return true
  }

  private func isNext(_ type: FrameType) -> Bool { type.isFirst == (open == nil) }

  @inline(__always)
  private mutating func note(_ offset: UInt64, _ end: UInt64) {
    found.add(offset, UInt32(truncatingIfNeeded: end - offset))
    count += 1
  }

  private mutating func block(_ payload: RawSpan, _ offset: UInt64, _ end: UInt64) -> Bool {
    guard let head = BlockHead(payload, count: Int(SnapshotLayout.maximumRecords)),
      head.records.lowerBound == Int(count), isInflated(offset) || head.inflate(payload, with: inflater) != nil
    else { return false }
    for _ in head.records { note(offset, end) }
    return true
  }

  private mutating func isInflated(_ offset: UInt64) -> Bool {
    guard passed < inflated.count, inflated[passed] == offset else { return false }
    passed += 1
    return true
  }

  private mutating func order(_ payload: RawSpan) -> Bool {
    let count = payload.byteCount / SnapshotLayout.orderEntryBytes
    // Only the last frame is not full: places are found by their number.
    guard count >= 1, count <= SnapshotLayout.orderEntries, entries % UInt64(SnapshotLayout.orderEntries) == 0,
      payload.byteCount == count * SnapshotLayout.orderEntryBytes
    else { return false }
    for index in 0..<count {
      let place = PackedOrder.place(payload, index)
      listed.add(place.offset, UInt32(truncatingIfNeeded: place.span))
    }
    entries += UInt64(count)
    return true
  }

  private mutating func bucket(_ payload: RawSpan) -> Bool {
    guard payload.byteCount == SnapshotLayout.bucketBytes,
      let taken = SnapshotBucket.slots(payload, count: Int(clamping: count))
    else { return false }
    slots += UInt64(taken)
    return true
  }
}

/// Tells sequences of places apart without keeping them.
private struct PlaceSum: Equatable {
  private var sum: UInt64 = 0

  @inline(__always)
  mutating func add(_ offset: UInt64, _ span: UInt32) {
    sum = (sum ^ offset) &* 0x9E37_79B9_7F4A_7C15
    sum = (sum ^ (sum >> 29) ^ UInt64(span)) &* 0xBF58_476D_1CE4_E5B9
    sum ^= sum >> 32
  }
}
