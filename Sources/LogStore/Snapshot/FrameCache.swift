internal import Synchronization

/// Frames that were verified, by where they stand in the file. Bounded by bytes; what was not used since the hand
/// last came round goes first. Once it is full, few of those that are asked for in vain are taken in: what is asked for
/// often comes in soon, and what will not be asked for again does not cost a place each time.
///
/// Shards keep threads apart. No lock is held over a system call: a frame is read, verified and then put in.
final class FrameCache: Sendable {
  struct Frame: Sendable {
    /// A table frame's payload, as it is or packed, or a block's inflated records.
    var bytes: [UInt8]
    /// For a block: which records it holds.
    var records: Range<Int> = 0..<0
  }

  private let shards: [Shard]
  /// The most that it was made for.
  let bytes: Int

  init(bytes: Int) {
    self.bytes = bytes
    shards = (0..<FrameCache.shardCount).map { _ in Shard(limit: bytes / FrameCache.shardCount) }
  }

  /// Holds no more than `bytes` from now on.
  func limit(to bytes: Int) { for shard in shards { shard.limit(to: bytes / FrameCache.shardCount) } }

  /// A power of 2.
  private static let shardCount = 8

  func frame(at offset: UInt64) -> Frame? { shard(offset).frame(at: offset) }

  enum Look<Result> {
    case held(Result)
    /// It is not here. Whether it should be, once it is read.
    case absent(isWanted: Bool)
  }

  /// Lends the bytes of the frame at `offset`, if it is here. `body` runs under a lock, and is to be short.
  @inline(__always)
  func look<Result: Sendable>(at offset: UInt64, _ body: (RawSpan) -> Result) -> Look<Result> {
    shard(offset).look(at: offset, body)
  }

  func insert(_ frame: Frame, at offset: UInt64) { shard(offset).insert(frame, at: offset) }

  private func shard(_ offset: UInt64) -> Shard {
    // Frames of one table stand at equal distances; the multiplication spreads them. Other bits of it than a shard's
    // table takes: frames whose bits there are the same would crowd together in it.
    shards[Int(truncatingIfNeeded: (offset &* 0x9E37_79B9_7F4A_7C15) >> 24) & (FrameCache.shardCount - 1)]
  }
}

private final class Shard: Sendable {
  private let state: Mutex<State>

  init(limit: Int) { state = Mutex(State(limit: limit)) }

  func limit(to limit: Int) {
    state.withLock { state in
      state.limit = limit
      while state.bytes > limit { state.evict() }
    }
  }

  func frame(at offset: UInt64) -> FrameCache.Frame? {
    state.withLock { state in
      guard let slot = state.places[offset] else { return nil }
      state.slots[slot].isRecent = true
      return state.slots[slot].frame
    }
  }

  @inline(__always)
  func look<Result: Sendable>(at offset: UInt64, _ body: (RawSpan) -> Result) -> FrameCache.Look<Result> {
    state.withLock { state in
      guard let slot = state.places[offset] else { return .absent(isWanted: state.wants()) }
      state.slots[slot].isRecent = true
      let bytes = state.slots[slot].frame.bytes
      return .held(bytes.lend(0..<bytes.count, body))
    }
  }

  func insert(_ frame: FrameCache.Frame, at offset: UInt64) {
    let size = frame.bytes.count + Shard.overhead
    state.withLock { state in
      // What would push out most of the rest is not worth keeping.
      guard size <= state.limit / 2, state.places[offset] == nil else { return }
      state.bytes += size
      while state.bytes > state.limit { state.evict() }
      state.places.set(offset, state.slots.count)
      state.slots.append(Slot(offset: offset, frame: frame, isRecent: false))
    }
  }

  private struct Slot {
    var offset: UInt64
    var frame: FrameCache.Frame
    var isRecent: Bool
  }

  private struct State {
    var limit: Int
    var places = OffsetTable()
    var slots: [Slot] = []
    var hand = 0
    var bytes = 0
    /// How often a frame was asked for in vain since the cache was full.
    private var misses = 0

    init(limit: Int) { self.limit = limit }

    /// Whether a frame that was asked for in vain is worth taking in.
    mutating func wants() -> Bool {
      if bytes < limit / 8 * 7 { return true }
      misses &+= 1
      return misses % 8 == 0
    }

    /// Removes one frame; there is one, since `bytes` is more than a newcomer's, if there is one.
    mutating func evict() {
      if hand >= slots.count { hand = 0 }
      while slots[hand].isRecent {
        slots[hand].isRecent = false
        hand = hand + 1 == slots.count ? 0 : hand + 1
      }
      bytes -= slots[hand].frame.bytes.count + Shard.overhead
      places.remove(slots[hand].offset)
      // The last one takes the place.
      let last = slots.removeLast()
      guard hand < slots.count else { return }
      slots[hand] = last
      places.set(last.offset, hand)
    }
  }

  /// An entry's share of the tables here, roughly.
  private static let overhead = 96
}
