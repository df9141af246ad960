import Dispatch
import Glibc
import LogStore

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
    var actors: [Actor] = [] { didSet { changes &+= 1 } }
    /// Grows with each change of an actor, and with each new one.
    var changes = 0
    var threads: [SystemThread] = []
    /// Nil until the first turn is due.
    var choose: Choice?
    var isOpen = false
  }

  /// Says whose turn it is, given the names of those that can go on, in order; nil to wait for one that has not arrived.
  typealias Choice = @Sendable ([Character]) -> Character?

  /// Whoever waits for this lock is about to say something, and does not count as waiting.
  private let state = PlacedLock(State())
  /// Signalled whenever a thread has arrived, begun or ended, and nobody could be chosen then.
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
      goOnOrSay()
      turn?.wait()
      body()
      state.withLock { $0.actors[number].phase = .done }
      goOnOrSay()
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
    goOnOrSay()
    turn.wait()
  }

  // MARK: Choosing

  /// Lets threads go on until all have come to an end.
  func run(_ choose: @escaping Choice) throws(Hang) {
    defer { openUp() }
    state.withLock { $0.choose = choose }
    try takeTurns()
    for thread in state.withLock({ $0.threads }) { thread.join() }
  }

  /// Sees to the turns that no thread could give, as the last that ran has begun to wait inside the engine.
  private func takeTurns() throws(Hang) {
    var lastProgress = ContinuousClock.now
    while true {
      switch goOn() {
      case .over: return
      case .running, .chosen: lastProgress = .now
      case .refused: guard ContinuousClock.now - lastProgress < .seconds(20) else { throw Hang() }
      }
      _ = changed.wait(timeout: .now() + .microseconds(100))
    }
  }

  private enum Outcome { case running, chosen, refused, over }

  /// Lets the next one go on where all stand still: parked, at their end, or waiting for another.
  ///
  /// Any thread: whoever arrives last does so itself, since to wake somebody for it takes longer than most turns.
  private func goOn() -> Outcome {
    let (running, changes) = state.withLock { ($0.actors.filter { $0.phase == .running }, $0.changes) }
    let begun = running.compactMap(\.status)
    guard begun.count == running.count, ThreadStatus.areWaiting(begun, butNotAt: state.place) else { return .running }
    return state.withLock { state in
      // One that is parked now may have been chosen meanwhile; and one that waits may have started another before.
      guard state.changes == changes, let choose = state.choose else { return .running }
      if state.actors.allSatisfy({ $0.phase == .done }) { return .over }
      let ready = state.actors.filter { $0.phase == .parked }.map(\.name).sorted()
      guard !ready.isEmpty, let name = choose(ready),
        let place = state.actors.firstIndex(where: { $0.name == name && $0.phase == .parked })
      else { return .refused }
      state.actors[place].phase = .running
      // Still under the lock: whoever sees that it is running does not find it waiting for its turn.
      state.actors[place].turn.signal()
      return .chosen
    }
  }

  private func goOnOrSay() { if goOn() != .chosen { changed.signal() } }

  /// From now on nobody has to wait.
  private func openUp() {
    let actors = state.withLock { state in
      state.isOpen = true
      state.choose = nil
      return state.actors
    }
    for actor in actors {
      if actor.phase == .parked { actor.turn.signal() }
      actor.status?.close()
    }
  }
}
