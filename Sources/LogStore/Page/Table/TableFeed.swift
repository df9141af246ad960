internal import Dispatch
internal import Synchronization

/// Has a table absorb blocks of operations on another thread, in their order, while the next ones are gathered.
///
/// Who gathers absorbs blocks, too, where all are full: so nothing waits for a helper that does not come.
///
/// Invariant behind the unchecked conformance: the table is touched only by who has set `State.isAbsorbing`, or after
/// `finish`; a block only by who has taken it from the state.
final class TableFeed: @unchecked Sendable {
  private let table: RecordTable
  private let state = Mutex(State())
  /// Each is signalled once for each wait that it ends.
  private let isThereWork = DispatchSemaphore(value: 0)
  private let isAbsorbed = DispatchSemaphore(value: 0)
  private let hasEnded = DispatchSemaphore(value: 0)

  private struct State {
    var full: [OperationBlock] = []
    var empty = [OperationBlock(), OperationBlock()]
    var isAbsorbing = false
    var isOver = false
    var hasHelper = false
    /// Whether the helper waits for a full block, or the gatherer for something to be absorbed.
    var helperWaits = false
    var gathererWaits = false
    /// Nothing is absorbed behind it.
    var failure: LogStoreError?

    /// The next block, to be absorbed by who takes it.
    mutating func take() -> OperationBlock? {
      guard failure == nil, !isAbsorbing, !full.isEmpty else { return nil }
      isAbsorbing = true
      return full.removeFirst()
    }
  }

  init(_ table: RecordTable, start: HelperStart) {
    self.table = table
    start { self.help() }
  }

  /// Takes a full block, and gives an empty one for it. Throws what absorbing an earlier one threw.
  func exchange(_ block: OperationBlock) throws(LogStoreError) -> OperationBlock {
    let mustWake = state.withLock { state in
      state.full.append(block)
      defer { state.helperWaits = false }
      return state.helperWaits
    }
    if mustWake { isThereWork.signal() }
    while true {
      let step = state.withLock { state in
        if let failure = state.failure { return Step.fail(failure) }
        if let empty = state.empty.popLast() { return .goOn(empty) }
        if let next = state.take() { return .absorb(next) }
        state.gathererWaits = true
        return .wait
      }
      switch step {
      case .fail(let failure): throw failure
      case .goOn(let empty): return empty
      case .absorb(let block): absorb(block)
      case .wait: isAbsorbed.wait()
      }
    }
  }

  private enum Step {
    case fail(LogStoreError)
    case goOn(OperationBlock)
    case absorb(OperationBlock)
    case wait
  }

  private func absorb(_ block: OperationBlock) {
    var failure: LogStoreError?
    do throws(LogStoreError) {
      try table.absorb(block)
    } catch {
      failure = error
    }
    block.removeAll()
    let mustWake = state.withLock { state in
      state.isAbsorbing = false
      state.empty.append(block)
      if let failure { state.failure = failure }
      defer { state.gathererWaits = false }
      return state.gathererWaits
    }
    if mustWake { isAbsorbed.signal() }
  }

  private func help() {
    let isWanted = state.withLock { state in
      state.hasHelper = !state.isOver
      return state.hasHelper
    }
    guard isWanted else { return }
    while true {
      let (block, isOver) = state.withLock { state in
        let block = state.take()
        let isOver = block == nil && state.isOver
        state.helperWaits = block == nil && !isOver
        return (block, isOver)
      }
      if isOver { break }
      if let block { absorb(block) } else { isThereWork.wait() }
    }
    hasEnded.signal()
  }

  /// Returns when all is absorbed and the helper has ended. Throws what absorbing threw.
  func finish() throws(LogStoreError) {
    while true {
      let step: Step? = state.withLock { state in
        if let next = state.take() { return .absorb(next) }
        if state.isAbsorbing {
          state.gathererWaits = true
          return .wait
        }
        return nil
      }
      switch step {
      case .absorb(let block): absorb(block)
      case .wait: isAbsorbed.wait()
      default:
        let (hasHelper, mustWake) = state.withLock { state in
          state.isOver = true
          defer { state.helperWaits = false }
          return (state.hasHelper, state.helperWaits)
        }
        if mustWake { isThereWork.signal() }
        if hasHelper { hasEnded.wait() }
        if let failure = state.withLock({ $0.failure }) { throw failure }
        return
      }
    }
  }
}
