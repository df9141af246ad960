import Dispatch
import LogStore
import Synchronization

/// Fails every call of every session in every way.
final class CallSweep: Sendable {
  static let row = "t1 calls"

  private struct Task: Sendable {
    var session: String
    var way: FaultWay
    var isRepeating: Bool
  }

  private let tally: Tally
  private let next = Atomic(0)
  private let tasks: [Task]
  private let places = Mutex<Set<CallPlace>>([])

  init(_ tally: Tally) {
    self.tally = tally
    tasks = FaultSession.all.flatMap { session in
      FaultWay.allCases.flatMap { way in
        (way.canRepeat ? [false, true] : [false]).map { Task(session: session.name, way: way, isRepeating: $0) }
      }
    }
  }

  func run(_ plan: Plan) {
    DispatchQueue.concurrentPerform(iterations: plan.workers) { _ in
      while !plan.isOver {
        let number = next.add(1, ordering: .relaxed).oldValue
        guard number < tasks.count else { return }
        work(tasks[number], plan)
      }
    }
    judge(isWhole: !plan.isOver)
  }

  /// Says where calls have failed. What no session has come to, although it could, is a hole in the sessions.
  private func judge(isWhole: Bool) {
    let reached = places.withLock { $0 }
    let beyond = Set(CallPlace.beyondSessions.values).sorted()
    CrashCommand.say(
      "\(CallSweep.row): calls failed at \(reached.count) of \(CallPlace.engine.count) places that the engine has, and at"
        + " \(CallPlace.beyondSessions.count) not because \(beyond.joined(separator: "; "))")
    guard isWhole else { return }
    for place in CallPlace.disagreements(reached) {
      tally.violation(
        Violation(what: "the sessions and the list of places disagree on: \(place)", in: PlacesCase()),
        in: CallSweep.row)
    }
  }

  private func work(_ task: Task, _ plan: Plan) {
    let start = ContinuousClock.now
    var states = 0
    var violations = 0
    var place = 0
    while !plan.isOver, violations < 3 {
      let one = FaultCase(session: task.session, way: task.way, place: place, isRepeating: task.isRepeating)
      place += 1
      do {
        let outcome = try one.run()
        states += outcome.states
        places.withLock { $0.formUnion(outcome.failed) }
        if let problem = outcome.problem {
          violations += 1
          tally.violation(Violation(what: problem, in: one.shrunk(problem)), in: CallSweep.row)
        }
        if !outcome.fired { break }
      } catch {
        violations += 1
        tally.violation(Violation(what: "\(error)", in: one), in: CallSweep.row)
      }
    }
    tally.add(CallSweep.row, states: states, work: .init(since: start, of: plan.workers))
  }
}
