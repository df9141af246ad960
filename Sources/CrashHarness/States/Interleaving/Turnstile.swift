import Dispatch
import Glibc
import LogStore
import Synchronization

/// Lets one of several threads go on at a time, from one storage call to the next.
///
/// Each thread stops in front of every call (``arrive()``) until it is chosen. A thread that waits inside the engine, for a
/// lock or for another thread's commit, cannot be chosen; that it waits is seen in the system's account of it, not guessed
/// from the time that goes by. Threads of the engine's own queues take part from their first call on.
final class Turnstile: Sendable {
  struct Hang: Error {}

  private enum Phase { case running, parked, done }

  private struct Actor {
    var name: Character
    var status: ThreadStatus
    var phase: Phase
    let turn = DispatchSemaphore(value: 0)
    /// Whether it is one of those that have to come to an end.
    var isOwn: Bool
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

  /// Runs `body` on a thread that takes part under a name.
  func start(_ name: Character, _ body: @escaping @Sendable () -> Void) {
    let thread = SystemThread { [self] in
      let status = ThreadStatus()
      let turn = state.withLock { state in
        let actor = Actor(name: name, status: status, phase: .parked, isOwn: true)
        state.actors.append(actor)
        return actor.turn
      }
      changed.signal()
      turn.wait()
      body()
      defer { changed.signal() }
      state.withLock { state in
        guard let place = state.actors.firstIndex(where: { $0.status.id == status.id && $0.isOwn }) else { return }
        state.actors[place].phase = .done
      }
    }
    state.withLock { $0.threads.append(thread) }
  }

  /// Waits until the calling thread is chosen.
  func arrive() {
    let id = pthread_self()
    let turn: DispatchSemaphore? = state.withLock { state in
      if state.isOpen { return nil }
      if let place = state.actors.firstIndex(where: { $0.status.id == id && $0.phase != .done }) {
        state.actors[place].phase = .parked
        return state.actors[place].turn
      }
      let actor = Actor(name: Turnstile.engine, status: ThreadStatus(), phase: .parked, isOwn: false)
      state.actors.append(actor)
      return actor.turn
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
        let isOver =
          state.actors.filter(\.isOwn).count == state.threads.count
          && state.actors.allSatisfy { !$0.isOwn || $0.phase == .done }
          && !state.actors.contains { $0.phase == .parked }
        return isOver ? nil : state.actors.filter { $0.phase == .parked }.map(\.name).sorted()
      }
      guard let ready else { return }
      if !ready.isEmpty, let name = choose(ready) {
        release(name)
        lastProgress = .now
      } else {
        // The engine's queue has been asked for something and has not begun.
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
      defer { state.actors = [] }
      return state.actors
    }
    for actor in actors {
      if actor.phase == .parked { actor.turn.signal() }
      actor.status.close()
    }
  }

  /// Waits until every thread is parked, at its end, or waits for another. `known` holds those found waiting the last time, and
  /// where.
  private func settle(_ known: inout [pthread_t: UInt64]) {
    var last: [pthread_t: UInt64] = [:]
    var same = 0
    while true {
      let (running, isComplete) = state.withLock { state in
        (
          state.actors.filter { $0.phase == .running }.map(\.status),
          state.actors.filter(\.isOwn).count == state.threads.count
        )
      }
      if running.isEmpty, isComplete {
        known = [:]
        return
      }
      // Most arrive at their next call at once, and say so.
      _ = changed.wait(timeout: .now() + .microseconds(100))
      guard isComplete else { continue }
      var now: [pthread_t: UInt64] = [:]
      for status in running { now[status.id] = status.waitingAt }
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
