import Dispatch
import Glibc
import LogStore
import Synchronization

/// Lets one of several threads go on at a time, from one storage call to the next.
///
/// Each thread stops in front of every call (``arrive()``) until it is chosen. A thread that waits inside the engine, for a
/// lock or for another thread's commit, cannot be chosen; that it waits is seen in the system's account of it, not guessed
/// from the time that goes by. Threads that the engine starts take part from their beginning, whose turn is chosen as well:
/// nothing is left to the clock or to the system's queues, and the same choices lead to the same calls.
final class Turnstile: Sendable {
  struct Hang: Error {}

  private enum Phase { case running, parked, done }

  private struct Actor {
    var name: Character
    /// Nil before it has begun.
    var status: ThreadStatus?
    var phase = Phase.running
    let turn = DispatchSemaphore(value: 0)
  }

  private struct State {
    var actors: [Actor] = []
    var threads: [SystemThread] = []
    var isOpen = false
  }

  private let state = Mutex(State())
  /// Signalled whenever a thread has arrived, begun or ended.
  private let changed = DispatchSemaphore(value: 0)

  /// The name of a thread of the engine's.
  static let engine: Character = "q"

  // MARK: Threads

  /// Runs `body` on a thread that takes part under a name, from the moment of this call on.
  func start(_ name: Character, _ body: @escaping @Sendable () -> Void) {
    let number = state.withLock { state in
      state.actors.append(Actor(name: name))
      return state.actors.count - 1
    }
    let thread = SystemThread { [self] in
      let status = ThreadStatus()
      let turn: DispatchSemaphore? = state.withLock { state in
        state.actors[number].status = status
        if state.isOpen { return nil }
        state.actors[number].phase = .parked
        return state.actors[number].turn
      }
      changed.signal()
      turn?.wait()
      body()
      state.withLock { $0.actors[number].phase = .done }
      changed.signal()
    }
    state.withLock { $0.threads.append(thread) }
  }

  /// What the engine starts by itself, and where it would wait for a time to pass, takes part as well.
  var schedule: Schedule {
    Schedule(start: { [self] in start(Turnstile.engine, $0) }, pause: { [self] in arrive() })
  }

  /// Waits until the calling thread, which was started here, is chosen.
  func arrive() {
    let id = pthread_self()
    let turn: DispatchSemaphore? = state.withLock { state in
      if state.isOpen { return nil }
      guard let place = state.actors.firstIndex(where: { $0.status?.id == id && $0.phase != .done }) else {
        preconditionFailure("a thread that nobody has started makes a call")
      }
      state.actors[place].phase = .parked
      return state.actors[place].turn
    }
    guard let turn else { return }
    changed.signal()
    turn.wait()
  }

  // MARK: Choosing

  /// Lets threads go on until all have come to an end. `choose` gets the names of those that can go on, in order, and says
  /// whose turn it is; it answers nil to wait for one that has not arrived yet.
  func run(_ choose: ([Character]) -> Character?) throws(Hang) {
    defer { openUp() }
    try takeTurns(choose)
    for thread in state.withLock({ $0.threads }) { thread.join() }
  }

  private func takeTurns(_ choose: ([Character]) -> Character?) throws(Hang) {
    var lastProgress = ContinuousClock.now
    var known: [pthread_t: UInt64] = [:]
    while true {
      settle(&known)
      let ready: [Character]? = state.withLock { state in
        let isOver = state.actors.allSatisfy { $0.phase == .done }
        return isOver ? nil : state.actors.filter { $0.phase == .parked }.map(\.name).sorted()
      }
      guard let ready else { return }
      if !ready.isEmpty, let name = choose(ready) {
        release(name)
        lastProgress = .now
      } else {
        // Whoever comes next according to a trace may still be on its way.
        guard ContinuousClock.now - lastProgress < .seconds(20) else { throw Hang() }
        _ = changed.wait(timeout: .now() + .microseconds(100))
      }
    }
  }

  private func release(_ name: Character) {
    let turn: DispatchSemaphore? = state.withLock { state in
      guard let place = state.actors.firstIndex(where: { $0.name == name && $0.phase == .parked }) else { return nil }
      state.actors[place].phase = .running
      return state.actors[place].turn
    }
    turn?.signal()
  }

  /// From now on nobody has to wait.
  private func openUp() {
    let actors = state.withLock { state in
      state.isOpen = true
      return state.actors
    }
    for actor in actors {
      if actor.phase == .parked { actor.turn.signal() }
      actor.status?.close()
    }
  }

  /// Waits until every thread is parked, at its end, or waits for another. `known` holds those found waiting the last time, and
  /// where.
  private func settle(_ known: inout [pthread_t: UInt64]) {
    var last: [pthread_t: UInt64] = [:]
    var same = 0
    while true {
      let running = state.withLock { state in state.actors.filter { $0.phase == .running }.map(\.status) }
      if running.isEmpty {
        known = [:]
        return
      }
      // Most arrive at their next call at once, and say so.
      _ = changed.wait(timeout: .now() + .microseconds(100))
      var now: [pthread_t: UInt64] = [:]
      for case .some(let status) in running { now[status.id] = status.waitingAt }
      let areWaiting = now.count == running.count
      same = areWaiting && now == last ? same + 1 : 0
      last = now
      // The same place at several looks: it waits, and does not only pass a lock.
      if same >= 3 || areWaiting && now.allSatisfy({ known[$0.key] == $0.value }) {
        known = now
        return
      }
    }
  }
}
