internal import LogStore
internal import LogctlCore
internal import Synchronization

/// How far a long piece of work has come: shown on a terminal once it has taken half a second.
final class ProgressLine: Sendable {
  private struct State {
    var phase: String?
    var phaseStart: UInt64
    var lastShown: UInt64 = 0
  }

  private let output: ErrorOutput
  private let title: String
  private let isShown: Bool
  private let start: UInt64
  private let state: Mutex<State>

  private static let delay: UInt64 = 500_000_000
  private static let interval: UInt64 = 100_000_000

  /// Not shown where records go to the same terminal: the line would stand between them.
  init(_ title: String, on output: ErrorOutput, besideRecords: Bool = false) {
    self.output = output
    self.title = title
    isShown = output.isTerminal && !(besideRecords && Descriptor.output.isTerminal)
    start = Environment.now
    state = Mutex(State(phaseStart: start))
  }

  /// For the engine: shows progress, and cancels when the user interrupts.
  var handler: ProgressHandler {
    { progress in
      self.update(progress.phase.rawValue, progress.completedBytes, progress.totalBytes)
      return !Interrupt.isRequested
    }
  }

  func update(_ phase: String, _ completed: UInt64, _ total: UInt64?) {
    guard isShown else { return }
    let now = Environment.now
    state.withLock { state in
      if state.phase != phase {
        if state.phase != nil { state.phaseStart = now }
        state.phase = phase
      }
      guard now - start >= ProgressLine.delay, now - state.lastShown >= ProgressLine.interval else { return }
      state.lastShown = now
      output.progress(
        title + ": " + ProgressText.describe(phase, completed, total, nanoseconds: now - state.phaseStart))
    }
  }

  func finish() { output.progress("") }
}
