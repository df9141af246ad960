/// The bytes of the newest journal that are not known to be durable, in memory: after a failed sync they are all there is.
///
/// Used by the holder of the page's baton only.
final class UnsyncedTail {
  /// Whole groups, from `offset` of the file on.
  final class Segment {
    fileprivate(set) var offset: UInt64
    let bytes: ByteBuffer

    init(offset: UInt64, bytes: ByteBuffer) {
      self.offset = offset
      self.bytes = bytes
    }

    var end: UInt64 { offset + UInt64(bytes.count) }
  }

  private(set) var current: Segment
  private var older: [Segment] = []
  /// Where the first of them ends; the greatest number where there is none.
  private var oldestEnd = UInt64.max
  private var spare: [ByteBuffer] = []

  private static let segmentBytes = 1 << 20
  private static let spares = 9
  private static let restingBytes = 256 << 10

  init(offset: UInt64) {
    current = Segment(offset: offset, bytes: ByteBuffer(capacity: 4 << 10))
  }

  /// Starts again, in another journal.
  func restart(at offset: UInt64) {
    older = []
    oldestEnd = .max
    spare = []
    current = Segment(offset: offset, bytes: ByteBuffer(capacity: 4 << 10))
  }

  /// Begins a group at the file's end. Returns where it is put together, which is also `current`.
  @inline(__always)
  func beginGroup(at end: UInt64, durableEnd: UInt64) -> Segment {
    let segment = current
    if oldestEnd > durableEnd, segment.end > durableEnd, segment.bytes.count < UnsyncedTail.segmentBytes,
      segment.bytes.count > 0
    {
      return segment
    }
    makeRoom(at: end, durableEnd: durableEnd)
    return current
  }

  private func makeRoom(at end: UInt64, durableEnd: UInt64) {
    while let first = older.first, first.end <= durableEnd { release(older.removeFirst().bytes) }
    if older.isEmpty, current.end <= durableEnd || current.bytes.count == 0 {
      current.bytes.reuse(keeping: UnsyncedTail.segmentBytes * 2)
      current.offset = end
      // The medium keeps up: fewer buffers will do.
      spare.removeLast(spare.isEmpty ? 0 : 1)
    } else if current.bytes.count >= UnsyncedTail.segmentBytes {
      older.append(current)
      current = Segment(
        offset: end, bytes: spare.popLast() ?? ByteBuffer(capacity: UnsyncedTail.segmentBytes * 5 / 4))
    }
    oldestEnd = older.first?.end ?? .max
  }

  /// Gives back what is not needed once writers pause: buffers that wait to be used again, and all that lies in front of
  /// `durableEnd`. The file ends at `end`.
  func rest(at end: UInt64, durableEnd: UInt64) {
    makeRoom(at: end, durableEnd: durableEnd)
    spare = []
    if current.bytes.count == 0 { current.bytes.trim(to: UnsyncedTail.restingBytes) }
  }

  private func release(_ bytes: ByteBuffer) {
    guard spare.count < UnsyncedTail.spares, bytes.capacity <= 4 * UnsyncedTail.segmentBytes else { return }
    bytes.count = 0
    spare.append(bytes)
  }

  /// Bytes of memory that are held.
  var memoryBytes: Int { (older.map(\.bytes) + [current.bytes] + spare).reduce(0) { $0 + $1.capacity } }

  /// What lies behind `durableEnd`, in order.
  func carried(from durableEnd: UInt64) -> [JournalStart.Carried] {
    (older + [current]).compactMap { segment in
      guard segment.end > durableEnd, segment.bytes.count > 0 else { return nil }
      let start = durableEnd > segment.offset ? Int(durableEnd - segment.offset) : 0
      return .memory(segment.bytes, start..<segment.bytes.count)
    }
  }

  /// Copies of what lies behind `durableEnd`, to be read in the file's place.
  func preserved(from durableEnd: UInt64) -> [PreservingFile.Piece] {
    (older + [current]).compactMap { segment in
      guard segment.end > durableEnd else { return nil }
      let start = durableEnd > segment.offset ? Int(durableEnd - segment.offset) : 0
      return PreservingFile.Piece(
        offset: segment.offset + UInt64(start), bytes: unsafe Array(segment.bytes.bytes[start...]))
    }
  }
}
