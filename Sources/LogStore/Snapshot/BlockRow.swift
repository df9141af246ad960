internal import Dispatch
internal import Synchronization

/// Blocks to be inflated by two threads, the first that nobody has begun first.
final class BlockRow: Sendable {
  /// A block that verified. Who has taken it from the row puts down what it inflates to.
  final class Block: Sendable {
    let offset: UInt64
    let end: UInt64
    let head: BlockHead
    let payload: [UInt8]
    private let outcome = Mutex<Outcome>(.open)

    private enum Outcome {
      case open
      /// Nil where it does not inflate.
      case inflated([UInt8]?)
    }

    init(offset: UInt64, end: UInt64, head: BlockHead, payload: [UInt8]) {
      self.offset = offset
      self.end = end
      self.head = head
      self.payload = payload
    }

    fileprivate func inflate(_ inflater: Inflater) {
      let bytes = payload.lend(0..<payload.count) { head.inflate($0, with: inflater) }
      outcome.withLock { $0 = .inflated(bytes) }
    }

    fileprivate var isOpen: Bool {
      outcome.withLock { if case .open = $0 { true } else { false } }
    }

    fileprivate var bytes: [UInt8]? {
      outcome.withLock { if case .inflated(let bytes) = $0 { bytes } else { nil } }
    }
  }

  private struct State {
    /// Those that nobody has begun; the first of them stands at `next`.
    var waiting: [Block] = []
    var next = 0
    var isStopped = false
    var hasHelper = false
    /// Whether the helper waits for a block.
    var isIdle = false
    /// The block that the other thread waits for.
    var awaited: Block?

    mutating func take() -> Block? {
      guard next < waiting.count else { return nil }
      defer {
        next += 1
        if next == waiting.count { clear() }
      }
      return waiting[next]
    }

    mutating func clear() {
      waiting.removeAll(keepingCapacity: true)
      next = 0
    }

    /// Ends the helper's wait. Returns whether it has to be told.
    mutating func endIdling() -> Bool {
      defer { isIdle = false }
      return isIdle
    }
  }

  private let state = Mutex(State())
  /// Each is signalled once for each wait that it ends.
  private let isThereWork = DispatchSemaphore(value: 0)
  private let isInflated = DispatchSemaphore(value: 0)
  private let hasEnded = DispatchSemaphore(value: 0)

  func append(_ block: Block) {
    let mustWake = state.withLock { state in
      state.waiting.append(block)
      return state.endIdling()
    }
    if mustWake { isThereWork.signal() }
  }

  func clear() { state.withLock { $0.clear() } }

  /// What the block inflates to, nil if it does not. While the helper is at it, others are inflated here.
  func inflated(_ block: Block, _ inflater: Inflater) -> [UInt8]? {
    while block.isOpen {
      if let next = state.withLock({ $0.take() }) {
        next.inflate(inflater)
      } else {
        let waits = state.withLock { state in
          guard block.isOpen else { return false }
          state.awaited = block
          return true
        }
        if waits { isInflated.wait() }
      }
    }
    return block.bytes
  }

  /// The helper's part, until it is stopped.
  func help() {
    let isWanted = state.withLock { state in
      state.hasHelper = !state.isStopped
      return state.hasHelper
    }
    guard isWanted else { return }
    let inflater = Inflater()
    while true {
      let (block, isOver): (Block?, Bool) = state.withLock { state in
        if state.isStopped { return (nil, true) }
        let block = state.take()
        state.isIdle = block == nil
        return (block, false)
      }
      if isOver { break }
      guard let block else {
        isThereWork.wait()
        continue
      }
      block.inflate(inflater)
      let isAwaited = state.withLock { state in
        guard state.awaited === block else { return false }
        state.awaited = nil
        return true
      }
      if isAwaited { isInflated.signal() }
    }
    hasEnded.signal()
  }

  /// Ends the helper, and returns when it has; one that has not come yet will go at once.
  func stop() {
    let (hasHelper, mustWake) = state.withLock { state in
      state.isStopped = true
      state.clear()
      return (state.hasHelper, state.endIdling())
    }
    if mustWake { isThereWork.signal() }
    if hasHelper { hasEnded.wait() }
  }
}
