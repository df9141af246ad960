internal import Dispatch
internal import Synchronization

/// Verifies a snapshot on another thread, while the journals are verified; where none has begun, who asks for the outcome
/// has to do it.
final class SnapshotCheck: Sendable {
  let reader: SnapshotReader
  private let state = Mutex(State.waiting)
  private let completed = Atomic<UInt64>(0)
  private let isStopped = Atomic<Bool>(false)
  private let hasEnded = DispatchSemaphore(value: 0)

  struct Outcome: Sendable {
    var findings: [Finding]
    var frames: UInt64
  }

  private enum State {
    case waiting
    case running
    case ended(Result<Outcome, LogStoreError>)
    case taken
  }

  init(_ reader: SnapshotReader, start: HelperStart) {
    self.reader = reader
    start { self.run() }
  }

  /// What has been verified so far.
  var completedBytes: UInt64 { completed.load(ordering: .relaxed) }

  private func run() {
    let isMine = state.withLock { state in
      guard case .waiting = state else { return false }
      state = .running
      return true
    }
    guard isMine else { return }
    let result: Result<Outcome, LogStoreError>
    do throws(LogStoreError) {
      result = .success(
        try SnapshotCheck.verify(reader) { made in
          self.completed.store(made.completedBytes, ordering: .relaxed)
          return !self.isStopped.load(ordering: .relaxed)
        })
    } catch {
      result = .failure(error)
    }
    state.withLock { $0 = .ended(result) }
    hasEnded.signal()
  }

  static func verify(_ reader: SnapshotReader, _ progress: ProgressHandler?) throws(LogStoreError) -> Outcome {
    reader.source.file.dropCache()
    var verifier = SnapshotVerifier(reader, progress: progress)
    let findings = try verifier.run()
    return Outcome(findings: findings, frames: verifier.frames)
  }

  /// What came of it, after waiting for it, during which and behind which `goesOn` is asked; nil where nobody has begun.
  func outcome(goesOn: () -> Bool) throws(LogStoreError) -> Outcome? {
    let isBegun = state.withLock { state in
      guard case .waiting = state else { return true }
      state = .taken
      return false
    }
    guard isBegun else { return nil }
    while hasEnded.wait(timeout: .now() + .milliseconds(50)) == .timedOut {
      if !goesOn() { isStopped.store(true, ordering: .relaxed) }
    }
    let result: Result<Outcome, LogStoreError>? = state.withLock { state in
      defer { state = .taken }
      if case .ended(let result) = state { return result }
      return nil
    }
    let outcome = try result?.get()
    guard goesOn() else {
      throw LogStoreError(.cancelled, "cancelled while the snapshot was read", path: reader.path)
    }
    return outcome
  }

  /// Ends the other thread's work, and returns when it has ended.
  func stop() {
    isStopped.store(true, ordering: .relaxed)
    let isRunning = state.withLock { state in
      if case .running = state { return true }
      state = .taken
      return false
    }
    if isRunning { hasEnded.wait() }
  }
}
