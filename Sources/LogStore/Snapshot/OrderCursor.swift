/// Reads the order table from front to back beside the records. A frame that does not verify has no entries here.
final class OrderCursor {
  private let reader: SnapshotReader
  private let window: FrameWindow
  /// The frame at hand, by number, and where its payload stands in the window; nil if it does not verify.
  private var number = -1
  private var payload: Range<Int>?

  init(_ reader: SnapshotReader) {
    self.reader = reader
    window = FrameWindow(reader.source)
  }

  /// Where the frame that holds an entry stands.
  func frameRange(_ index: Int) -> Range<UInt64> {
    let number = index / SnapshotLayout.orderEntries
    let start = reader.footer.orderOffset + UInt64(number * SnapshotLayout.orderFrameBytes)
    let entries = min(SnapshotLayout.orderEntries, reader.count - number * SnapshotLayout.orderEntries)
    return start..<start + UInt64(Limits.frameOverhead + entries * SnapshotLayout.orderEntryBytes)
  }

  func place(_ index: Int) throws(LogStoreError) -> SnapshotReader.Place? {
    try open(index / SnapshotLayout.orderEntries)
    guard let payload else { return nil }
    let entry = (index % SnapshotLayout.orderEntries) * SnapshotLayout.orderEntryBytes
    return window.buffer.lend(payload) { SnapshotReader.Place(offset: $0.u64(entry), span: Int($0.u32(entry + 8))) }
  }

  /// The first record from `index` on that stands behind `offset`: where reading can go on after damage.
  func next(after offset: UInt64, from index: Int) throws(LogStoreError) -> (index: Int, offset: UInt64)? {
    var index = index
    while index < reader.count {
      if let place = try place(index) {
        if place.offset > offset, reader.isPossible(place) { return (index, place.offset) }
        index += 1
      } else {
        index = (index / SnapshotLayout.orderEntries + 1) * SnapshotLayout.orderEntries
      }
    }
    return nil
  }

  private func open(_ wanted: Int) throws(LogStoreError) {
    guard wanted != number else { return }
    number = wanted
    let range = frameRange(wanted * SnapshotLayout.orderEntries)
    let frame = try window.frame(at: range.lowerBound, limit: reader.footer.keysOffset, end: range.upperBound)
    guard let frame, frame.type == FrameType(.order), frame.end == range.upperBound
    else {
      payload = nil
      return
    }
    payload = frame.payload
  }
}
