internal import Dispatch
internal import Synchronization

/// Who may write: one baton, and the batches that wait for it.
///
/// A blocking writer that finds nobody at work takes the baton and commits in its own thread. Whoever comes meanwhile is
/// queued; the queue is drained on a serial dispatch queue, group after group in one thread, so an asynchronous writer never
/// blocks a thread of the cooperative pool. Compaction, syncs and closing take the baton for themselves.
final class CommitQueue: Sendable {
  /// Taken and let go of without the lock where nobody waits, which is what most writes find. Only under the lock does
  /// somebody say that he waits, and is an awaited baton passed on or set free: so nobody is overlooked by a holder who
  /// lets go of it at that moment.
  private let baton = Atomic<Baton>(.free)
  private let state: Mutex<State>
  private let drainer: DispatchQueue
  private let schedule: Schedule?
  /// Signalled once for each time that `State.isGathering` was lowered by somebody else than the drainer.
  private let gathered = DispatchSemaphore(value: 0)
  /// Commits and answers the first of the batches that it is given, as many as make a group; returns how many. Called with
  /// the baton.
  private let commit = Mutex<Commit?>(nil)

  typealias Commit = @Sendable (ArraySlice<CommitRequest>) -> Int

  private enum Baton: UInt8, AtomicRepresentable { case free, held, awaited }

  private struct State {
    var requests: [CommitRequest] = []
    var claimants: [DispatchSemaphore] = []
    var gathering: Gathering
    /// Whether the drainer waits for more batches.
    var isGathering = false

    /// Ends the drainer's wait where there is nothing more to wait for. Returns whether it has to be told.
    mutating func endGathering() -> Bool {
      guard isGathering, !claimants.isEmpty || requests.count >= gathering.expected else { return false }
      isGathering = false
      return true
    }
  }

  init(gathering: Gathering = Gathering(), schedule: Schedule? = nil) {
    state = Mutex(State(gathering: schedule == nil ? gathering : .always))
    self.schedule = schedule
    drainer = DispatchQueue(label: "LogStore.commit")
  }

  /// Says how to commit queued batches, before any is queued.
  func attach(_ commit: @escaping Commit) { self.commit.withLock { $0 = commit } }

  /// How many batches are queued.
  var waiting: Int { state.withLock { $0.requests.count } }

  /// Takes the baton if nobody holds it or waits.
  @inline(__always)
  func tryClaim() -> Bool {
    baton.compareExchange(expected: .free, desired: .held, ordering: .acquiring).exchanged
  }

  /// Takes the baton where it is free; otherwise whoever holds it will see who waits. Called with the lock.
  private func claimOrAwait() -> Bool {
    while !tryClaim() {
      let before = baton.compareExchange(expected: .held, desired: .awaited, ordering: .relaxed).original
      // It may have been let go of in between.
      if before != .free { return false }
    }
    return true
  }

  /// Takes the baton, waiting for whoever holds it.
  func claim() {
    let (turn, isGathered): (DispatchSemaphore?, Bool) = state.withLock {
      if claimOrAwait() { return (nil, false) }
      let turn = DispatchSemaphore(value: 0)
      $0.claimants.append(turn)
      return (turn, $0.endGathering())
    }
    if isGathered { gathered.signal() }
    guard let turn else { return }
    turn.wait()
    _ = baton.load(ordering: .acquiring)
  }

  /// Hands the baton to the next claimant, or sees to the batches that wait.
  @inline(__always)
  func release() {
    if baton.compareExchange(expected: .held, desired: .free, ordering: .releasing).exchanged { return }
    releaseAwaited()
  }

  private func releaseAwaited() {
    if passOn() { startDraining() }
  }

  /// Hands the baton to the next claimant or to nobody. Where batches wait instead it stays where it is: returns true.
  private func passOn() -> Bool {
    let (mustDrain, next): (Bool, DispatchSemaphore?) = state.withLock {
      if !$0.claimants.isEmpty {
        // What the holder has done comes before what the next one does. Their semaphore sees to that as well, but the
        // thread sanitizer does not see semaphores.
        baton.store(.awaited, ordering: .releasing)
        return (false, $0.claimants.removeFirst())
      }
      if !$0.requests.isEmpty { return (true, nil) }
      baton.store(.free, ordering: .releasing)
      return (false, nil)
    }
    next?.signal()
    return mustDrain
  }

  func withBaton<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    claim()
    defer { release() }
    return try body()
  }

  // MARK: Batches

  /// Queues a batch, and blocks until there is an answer.
  func answer(_ request: CommitRequest) -> CommitRequest.Answer {
    let turn = DispatchSemaphore(value: 0)
    request.waiter = .thread(turn)
    enqueue(request)
    turn.wait()
    return request.answer
  }

  /// Queues a batch, and waits for an answer without blocking a thread. Cancelling the task withdraws a batch that nobody has
  /// begun to write.
  func answer(_ request: CommitRequest) async -> CommitRequest.Answer {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        request.waiter = .task(continuation)
        enqueue(request)
      }
    } onCancel: {
      if withdraw(request) { request.wake() }
    }
  }

  /// Queues a batch, whose request is answered later, on another thread; at once, where it was withdrawn before.
  private func enqueue(_ request: CommitRequest) {
    let next: Next = state.withLock {
      guard !request.isWithdrawn else { return .answered }
      request.isQueued = true
      $0.requests.append(request)
      if claimOrAwait() { return .drain }
      return $0.endGathering() ? .gathered : .waits
    }
    switch next {
    case .drain: startDraining()
    case .gathered: gathered.signal()
    case .waits: break
    case .answered: request.wake()
    }
  }

  private enum Next { case drain, gathered, waits, answered }

  /// Takes a batch back that nobody has begun to write. Returns whether somebody waits who is to be told so.
  private func withdraw(_ request: CommitRequest) -> Bool {
    let (isWaiting, isGathered) = state.withLock {
      if request.isQueued {
        guard let place = $0.requests.firstIndex(where: { $0 === request }) else { return (false, false) }
        $0.requests.remove(at: place)
        $0.gathering.leave()
      }
      request.isWithdrawn = true
      return (request.isQueued, $0.endGathering())
    }
    if isGathered { gathered.signal() }
    return isWaiting
  }

  // MARK: Draining

  private func startDraining() {
    guard let schedule else { return drainer.async { self.drain() } }
    schedule.start { self.drain() }
  }

  /// Writes what waits, group after group, until nothing does or somebody claims the baton. Holds the baton.
  private func drain() {
    let commit = commit.withLock { $0 }
    repeat {
      var requests = state.withLock {
        let requests = $0.requests
        $0.requests = []
        return requests[...]
      }
      while !requests.isEmpty {
        let start = DispatchTime.now().uptimeNanoseconds
        let count = commit?(requests) ?? requests.count
        let end = DispatchTime.now().uptimeNanoseconds
        for request in requests.prefix(count) { request.wake() }
        requests.removeFirst(count)
        if requests.isEmpty { gather(after: count, since: end, duration: end - start) }
      }
    } while passOn()
  }

  /// Waits for those who wrote together in a group of `count` batches, which ended at `end`. Whoever claims the baton ends
  /// that.
  private func gather(after count: Int, since end: UInt64, duration: UInt64) {
    let patience: UInt64? = state.withLock {
      $0.gathering.ended(count: count, waiting: $0.requests.count, duration: duration)
      $0.isGathering = true
      return $0.endGathering() ? nil : $0.gathering.patience
    }
    guard let patience else { return }
    if let schedule {
      schedule.pause()
    } else if gathered.wait(timeout: DispatchTime(uptimeNanoseconds: end + patience)) == .success {
      return
    }
    let isTold = state.withLock { state in
      defer { state.isGathering = false }
      return !state.isGathering
    }
    // Somebody has ended it, and the signal is there or on its way.
    if isTold { gathered.wait() }
  }

  // MARK: Beside the writers

  /// Runs `work` on the engine's own thread, where blocking harms nobody.
  func perform(_ work: @escaping @Sendable () -> Void) {
    guard let schedule else { return DispatchQueue.global().async(execute: work) }
    schedule.start(work)
  }

  /// The same, later; never, where that is centuries away: nothing is kept waiting for it.
  func perform(after nanoseconds: Int, _ work: @escaping @Sendable () -> Void) {
    guard nanoseconds < .max else { return }
    DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(nanoseconds), execute: work)
  }
}
