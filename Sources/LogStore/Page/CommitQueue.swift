internal import Dispatch
internal import Synchronization

/// Who may write: one baton, and the batches that wait for it.
///
/// A blocking writer that finds nobody at work takes the baton and commits in its own thread. Whoever comes meanwhile is
/// queued; the queue is drained as one group on a serial dispatch queue, so an asynchronous writer never blocks a thread
/// of the cooperative pool. Compaction, syncs and closing take the baton for themselves.
final class CommitQueue: Sendable {
  private let state = Mutex(State())
  private let drainer: DispatchQueue
  /// Commits queued batches. Called with the baton.
  private let commit = Mutex<(@Sendable ([CommitRequest]) -> Void)?>(nil)

  private struct State {
    var isHeld = false
    var requests: [CommitRequest] = []
    var claimants: [DispatchSemaphore] = []
  }

  init() { drainer = DispatchQueue(label: "LogStore.commit") }

  /// Says how to commit queued batches, before any is queued.
  func attach(_ commit: @escaping @Sendable ([CommitRequest]) -> Void) { self.commit.withLock { $0 = commit } }

  /// How many batches are queued.
  var waiting: Int { state.withLock { $0.requests.count } }

  /// Takes the baton if nobody holds it or waits.
  func tryClaim() -> Bool {
    state.withLock {
      guard !$0.isHeld, $0.requests.isEmpty else { return false }
      $0.isHeld = true
      return true
    }
  }

  /// Takes the baton, waiting for whoever holds it.
  func claim() {
    let turn: DispatchSemaphore? = state.withLock {
      guard $0.isHeld else {
        $0.isHeld = true
        return nil
      }
      let turn = DispatchSemaphore(value: 0)
      $0.claimants.append(turn)
      return turn
    }
    turn?.wait()
  }

  /// Hands the baton to the next claimant, or sees to the batches that wait.
  func release() {
    let next: Next = state.withLock {
      if !$0.claimants.isEmpty { return .claimant($0.claimants.removeFirst()) }
      if !$0.requests.isEmpty { return .drain }
      $0.isHeld = false
      return .nobody
    }
    switch next {
    case .claimant(let turn): turn.signal()
    case .drain: drainer.async { self.drain() }
    case .nobody: break
    }
  }

  private enum Next {
    case claimant(DispatchSemaphore)
    case drain
    case nobody
  }

  func withBaton<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    claim()
    defer { release() }
    return try body()
  }

  /// Queues a batch. Its request is answered later, on another thread.
  func enqueue(_ request: CommitRequest) {
    let mustDrain = state.withLock {
      $0.requests.append(request)
      guard !$0.isHeld else { return false }
      $0.isHeld = true
      return true
    }
    if mustDrain { drainer.async { self.drain() } }
  }

  /// Takes a batch back that nobody has begun to write. Returns whether it was still waiting.
  func withdraw(_ request: CommitRequest) -> Bool {
    state.withLock {
      guard let place = $0.requests.firstIndex(where: { $0 === request }) else { return false }
      $0.requests.remove(at: place)
      return true
    }
  }

  /// Writes all that waits as one group. Holds the baton.
  private func drain() {
    let requests = state.withLock {
      let requests = $0.requests
      $0.requests = []
      return requests
    }
    if !requests.isEmpty { commit.withLock { $0 }?(requests) }
    release()
  }

  /// Runs `work` on the engine's own thread, where blocking harms nobody.
  func perform(_ work: @escaping @Sendable () -> Void) { DispatchQueue.global().async(execute: work) }

  /// The same, later; never, where that is centuries away: nothing is kept waiting for it.
  func perform(after nanoseconds: Int, _ work: @escaping @Sendable () -> Void) {
    guard nanoseconds < .max else { return }
    DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(nanoseconds), execute: work)
  }
}

/// A batch that waits to be written, and somebody who waits for what becomes of it.
final class CommitRequest: Sendable {
  let batch: WriteBatch
  let durability: Durability
  let expecting: Position?
  private let answer = Mutex<Answer>(.open)

  private enum Answer {
    case open
    case waiting(@Sendable (Result<Position, LogStoreError>) -> Void)
    case given(Result<Position, LogStoreError>)
  }

  init(_ batch: WriteBatch, _ durability: Durability, _ expecting: Position?) {
    self.batch = batch
    self.durability = durability
    self.expecting = expecting
  }

  /// Says what became of it; later answers do nothing.
  func resolve(_ result: Result<Position, LogStoreError>) {
    let waiting: (@Sendable (Result<Position, LogStoreError>) -> Void)? = answer.withLock {
      switch $0 {
      case .open:
        $0 = .given(result)
        return nil
      case .waiting(let resume):
        $0 = .given(result)
        return resume
      case .given: return nil
      }
    }
    waiting?(result)
  }

  /// Calls `resume` with the answer, now or once there is one.
  func whenResolved(_ resume: @escaping @Sendable (Result<Position, LogStoreError>) -> Void) {
    let given: Result<Position, LogStoreError>? = answer.withLock {
      if case .given(let result) = $0 { return result }
      $0 = .waiting(resume)
      return nil
    }
    if let given { resume(given) }
  }

  /// Blocks until there is an answer.
  func wait() -> Result<Position, LogStoreError> {
    let turn = DispatchSemaphore(value: 0)
    let box = Mutex<Result<Position, LogStoreError>?>(nil)
    whenResolved { result in
      box.withLock { $0 = result }
      turn.signal()
    }
    turn.wait()
    return box.withLock { $0 } ?? .failure(LogStoreError(.closed, "the page was closed"))
  }
}
