/// Gathers small records and deflates them together where that saves.
///
/// Data that does not deflate is not tried again and again: after each vain try twice as many bytes go by untried, up
/// to 1 MiB.
final class BlockBuilder {
  /// The gathered records as a block inflates to them.
  let raw = ByteBuffer()
  private(set) var records = 0
  /// Bytes that the records would take as frames of their own.
  private var frameBytes = 0
  private var untried = 0
  private var patience = 0
  private let deflater = Deflater()
  let deflated = ByteBuffer()

  static let targetBytes = 16 << 10
  /// Records longer than this stay by themselves.
  static let recordBytes = 64 << 10
  private static let longestPatience = 1 << 20

  var isEmpty: Bool { records == 0 }
  var isFull: Bool { raw.count >= BlockBuilder.targetBytes }

  /// Whether a block of so many bytes, inflated, is better put together with others: none stays from one compaction to
  /// the next, and so blocks do not crumble.
  static func isSmall(_ bytes: Int) -> Bool { bytes < targetBytes / 2 }

  /// Whether a record is to be gathered, and not written by itself.
  func wants(_ bytes: Int) -> Bool {
    guard bytes <= BlockBuilder.recordBytes else { return false }
    guard untried > 0 else { return true }
    untried -= bytes
    return false
  }

  func add(_ key: RawSpan, _ value: RawSpan) {
    raw.append(UInt16(truncatingIfNeeded: key.byteCount))
    raw.append(UInt32(truncatingIfNeeded: value.byteCount))
    raw.append(key)
    raw.append(value)
    records += 1
    frameBytes += Limits.frameOverhead + 2 + key.byteCount + value.byteCount
  }

  /// Deflates what is gathered into `deflated`; false if that saves less than 12 % of the file.
  func deflate() -> Bool {
    deflated.count = 0
    let limit = frameBytes * 88 / 100 - Limits.frameOverhead - SnapshotLayout.blockHeadBytes
    if raw.lend(0..<raw.count, { deflater.deflate($0, into: deflated, limit: limit) }) {
      patience = 0
      return true
    }
    patience = min(max(patience * 2, BlockBuilder.targetBytes), BlockBuilder.longestPatience)
    untried = patience
    return false
  }

  func clear() {
    raw.count = 0
    records = 0
    frameBytes = 0
  }
}
