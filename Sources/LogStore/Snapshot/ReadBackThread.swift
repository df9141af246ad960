internal import Dispatch
internal import Synchronization

/// Has a snapshot read back on a second thread while it is being written, in stretches and at least one behind the
/// writer: while one is read, the system writes out the next.
///
/// A stretch is read once the system says that it is written out, so that the bytes come from the medium. Where that
/// cannot be asked for, and of what is shorter than two stretches, nothing is read here: the writer reads it in the
/// end, behind its sync, as it does with whatever is left.
///
/// The thread never waits for the writer: it ends when there is nothing to do, and is started anew.
final class ReadBackThread: Sendable {
  private struct State {
    /// How far the file is written, in whole stretches.
    var written: UInt64 = 0
    /// How far the system was asked to write it out.
    var asked: UInt64 = 0
    /// How far it was read.
    var read: UInt64 = 0
    /// Blocks that were inflated before they were written, and whoever reads has not been told of.
    var inflated: [UInt64] = []
    var phase = Phase.idle
    var order = Order.follow
    var failure: LogStoreError?
  }

  private enum Phase {
    case idle
    /// Started, and not come yet.
    case called
    case running
    /// Running, and somebody waits for its end.
    case awaited
  }

  private enum Order {
    /// More will come.
    case follow
    /// Nothing more will come, and all has been written out.
    case readRest
    case stop
  }

  private let file: any StorageFile
  /// Whether what is read must have been written out: a page that is to survive only the process need not.
  private let writesOut: Bool
  private let stretch: UInt64
  private let start: HelperStart
  private let state = Mutex(State())
  /// Held by whoever reads.
  private let check: Mutex<SnapshotReadBack>
  /// Signalled when the thread has ended that somebody waits for.
  private let ended = DispatchSemaphore(value: 0)

  init(_ file: any StorageFile, _ check: sending SnapshotReadBack, _ settings: SnapshotWriter.Settings) {
    self.file = file
    self.check = Mutex(check)
    writesOut = settings.durability != .process
    stretch = UInt64(settings.readBackBytes)
    start = settings.startHelper
  }

  // MARK: The writer's side

  /// Takes note of how far the file is written, and of blocks in front of that or right behind it that need not be
  /// inflated.
  func wrote(upTo end: UInt64, inflated: [UInt64] = []) {
    let begins = state.withLock { state in
      state.inflated += inflated
      state.written = end / stretch * stretch
      guard state.phase == .idle, next(state) != .nothing else { return false }
      state.phase = .called
      return true
    }
    if begins { start { self.run() } }
  }

  /// Has what is left read up to `size`, the file's end, all of which has been synced, and judges the whole.
  func finish(_ footer: SnapshotFooter, size: UInt64, progress: ProgressHandler?) throws(LogStoreError) {
    if awaits(.readRest) { try awaitEnd(size, progress) }
    if let failure = state.withLock({ $0.failure }) { throw failure }
    try check.withLock { (check) throws(LogStoreError) in
      check.note(inflated: takeInflated())
      try check.advance(to: size, progress: progress)
      try check.finish(footer)
    }
  }

  /// Ends the thread, and waits for that. It reads no more than the stretch that it is at.
  func stop() {
    if awaits(.stop) { ended.wait() }
  }

  /// Says how the thread is to end. False if it does not run; it never will, then.
  private func awaits(_ order: Order) -> Bool {
    state.withLock { state in
      state.order = order
      guard state.phase == .running else {
        state.phase = .idle
        return false
      }
      state.phase = .awaited
      return true
    }
  }

  private func awaitEnd(_ size: UInt64, _ progress: ProgressHandler?) throws(LogStoreError) {
    var reported: UInt64 = 0
    while ended.wait(timeout: .now() + .milliseconds(50)) == .timedOut {
      let read = state.withLock { $0.read }
      guard let progress, read - reported >= stretch else { continue }
      reported = read
      guard progress(Progress(.checking, completedBytes: read, totalBytes: size)) else {
        state.withLock { $0.order = .stop }
        ended.wait()
        throw check.withLock { $0.cancelled() }
      }
    }
  }

  // MARK: The thread's side

  private enum Step: Equatable {
    case nothing
    case writeOut(Range<UInt64>)
    case read(Range<UInt64>)
  }

  private func next(_ state: State) -> Step {
    guard state.failure == nil, state.order != .stop else { return .nothing }
    let ahead = state.order == .follow ? 2 * stretch : stretch
    if state.written >= ahead, state.order == .follow, state.written > state.asked {
      return .writeOut(state.asked..<state.written)
    }
    return state.written >= state.read + ahead ? .read(state.read..<state.read + stretch) : .nothing
  }

  private func run() {
    let begins = state.withLock { state in
      // Too late, where the writer has gone on without it.
      guard state.phase == .called, state.order == .follow else { return false }
      state.phase = .running
      return true
    }
    guard begins else { return }
    while let step = nextOrEnd() {
      do throws(LogStoreError) {
        try perform(step)
      } catch {
        state.withLock { $0.failure = error }
      }
    }
  }

  /// What is to be done; nil, and the thread has ended, if nothing is.
  private func nextOrEnd() -> Step? {
    let (step, isAwaited): (Step?, Bool) = state.withLock { state in
      let step = next(state)
      guard step == .nothing else { return (step, false) }
      defer { state.phase = .idle }
      return (nil, state.phase == .awaited)
    }
    if isAwaited { ended.signal() }
    return step
  }

  private func perform(_ step: Step) throws(LogStoreError) {
    switch step {
    case .nothing: break
    case .writeOut(let range):
      try writeOut(range, waits: false)
      state.withLock { $0.asked = range.upperBound }
    case .read(let range):
      try writeOut(range, waits: true)
      guard state.withLock({ $0.order != .stop }) else { return }
      try check.withLock { (check) throws(LogStoreError) in
        check.note(inflated: takeInflated())
        try check.advance(to: range.upperBound)
      }
      state.withLock { $0.read = range.upperBound }
    }
  }

  private func takeInflated() -> [UInt64] {
    state.withLock { state in
      defer { state.inflated.removeAll(keepingCapacity: true) }
      return state.inflated
    }
  }

  private func writeOut(_ range: Range<UInt64>, waits: Bool) throws(LogStoreError) {
    guard writesOut else { return }
    while true {
      do throws(StorageError) {
        // Where that cannot be asked for, all is left to the writer.
        if try !file.writeOut(range, waits: waits) { state.withLock { $0.order = .stop } }
        return
      } catch {
        guard error.errno == StorageError.interrupted else { throw LogStoreError(error, offset: range.lowerBound) }
      }
    }
  }
}
