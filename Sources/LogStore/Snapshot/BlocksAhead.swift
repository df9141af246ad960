/// Inflates the blocks that a sweep comes to next, on two threads: inflating is most of what a sweep over blocks takes.
///
/// The sweep's own thread reads frames ahead and verifies them, and puts the blocks in a row. It and a helper inflate them,
/// each the first that nobody has begun; so nothing waits for a helper that does not come. What is no block, does not
/// verify or does not inflate ends the row: the sweep gets there, and says what it is. One thread at a time.
final class BlocksAhead {
  private let reader: SnapshotReader
  private let window: FrameWindow
  private let inflater = Inflater()
  private let row = BlockRow()
  /// What stands in the row, the next one first, and its bytes when it is inflated.
  private var blocks: [BlockRow.Block] = []
  private var bytes = 0
  /// Where to read on; nil behind what ended the row.
  private var offset: UInt64?
  private var limit: UInt64 = 0
  /// What reading ahead came to, for when the sweep gets there.
  private var failure: LogStoreError?

  /// Bytes of a sweep from which on it has a helper: a millisecond's work or more.
  static let worthwhile: UInt64 = 128 << 10
  /// What the row may hold, inflated, unless it is a single block.
  private static let rowBytes = 512 << 10

  /// `start` has a helper work on another thread.
  init(_ reader: SnapshotReader, start: HelperStart) {
    self.reader = reader
    window = FrameWindow(reader.source)
    start { [row] in row.help() }
  }

  /// Goes on with what stands at `offset`, in front of `limit`; what stands in the row is forgotten.
  func resume(at offset: UInt64, limit: UInt64) {
    row.clear()
    blocks.removeAll(keepingCapacity: true)
    bytes = 0
    failure = nil
    self.offset = offset
    self.limit = limit
    readAhead()
  }

  /// Ends the helper, and returns when it has.
  func stop() { row.stop() }

  /// The block at `offset`, inflated; nil unless the row has it. Blocks in front of it are passed over. Throws what reading
  /// it threw.
  func take(at offset: UInt64) throws(LogStoreError) -> SnapshotSweep.Block? {
    while let first = blocks.first, first.offset < offset { removeFirst() }
    guard let block = blocks.first, block.offset == offset else {
      if blocks.isEmpty, self.offset == offset, let failure { throw failure }
      return nil
    }
    removeFirst()
    readAhead()
    guard let raw = row.inflated(block, inflater) else { return nil }
    return SnapshotSweep.Block(
      offset: offset, end: block.end, records: block.head.records, bytes: raw, payload: block.payload)
  }

  private func removeFirst() { bytes -= blocks.removeFirst().head.rawLength }

  private func readAhead() {
    guard failure == nil else { return }
    while let offset, offset < limit, blocks.isEmpty || bytes < BlocksAhead.rowBytes {
      let frame: FrameWindow.Frame?
      do throws(LogStoreError) {
        frame = try window.frame(at: offset, limit: limit)
      } catch {
        failure = error
        return
      }
      guard let frame, frame.type == FrameType(.block),
        let head = window.buffer.lend(frame.payload, { BlockHead($0, count: reader.count) })
      else {
        self.offset = nil
        return
      }
      let payload = window.buffer.lend(frame.payload) { $0.array }
      let block = BlockRow.Block(offset: offset, end: frame.end, head: head, payload: payload)
      blocks.append(block)
      bytes += head.rawLength
      row.append(block)
      self.offset = frame.end
    }
  }
}
