import Dispatch
import Synchronization

/// Halves each read and write of the shipped command.
struct ShortSweep {
  static let row = "t1 logctl short"

  private struct Task: Sendable {
    var command: LogctlScenario.Command
    var call: ShortCalls.Call
    var isRepeating: Bool
  }

  private static let tasks = LogctlScenario.Command.allCases.flatMap { command in
    ShortCalls.Call.allCases.flatMap { call in
      [false, true].map { Task(command: command, call: call, isRepeating: $0) }
    }
  }

  static func run(_ plan: Plan, _ tally: Tally) throws {
    let (logctl, calls): (String, ShortCalls)
    do throws(LogctlTools.Missing) {
      (logctl, calls) = (try LogctlTools.findLogctl(), try ShortCalls())
    } catch {
      return tally.skip(row, because: error.reason)
    }
    let next = Atomic(0)
    let fired = Atomic(0)
    DispatchQueue.concurrentPerform(iterations: plan.workers) { _ in
      while !plan.isOver {
        let number = next.add(1, ordering: .relaxed).oldValue
        guard number < tasks.count else { return }
        fired.add(work(tasks[number], logctl, calls, plan, tally), ordering: .relaxed)
      }
    }
    // Where the command does not go through the library, as when it is linked statically, nothing has been shown.
    if fired.load(ordering: .relaxed) == 0, !plan.isOver { tally.skip(row, because: "no call of \(logctl) was halved") }
  }

  /// Returns how many calls were halved.
  private static func work(
    _ task: Task, _ logctl: String, _ calls: ShortCalls, _ plan: Plan, _ tally: Tally
  ) -> Int {
    let start = ContinuousClock.now
    var done = 0
    var one = ShortCase(task.command, task.call, 1, isRepeating: task.isRepeating)
    do {
      let scenario = try LogctlScenario(task.command)
      let undisturbed = try LogctlRun(scenario, logctl)
      while !plan.isOver {
        let (fired, problem) = try one.run(scenario, logctl, calls, undisturbed: undisturbed)
        guard fired else { break }
        if let problem { tally.violation(Violation(what: problem, in: one), in: row) }
        done += 1
        one.number += 1
      }
    } catch {
      tally.violation(Violation(what: "\(error)", in: one), in: row)
    }
    tally.add(row, states: done, work: .init(since: start, of: plan.workers))
    return done
  }

  static func replay(_ one: ShortCase) throws -> Violation? {
    let (logctl, calls): (String, ShortCalls)
    do throws(LogctlTools.Missing) {
      (logctl, calls) = (try LogctlTools.findLogctl(), try ShortCalls())
    } catch {
      throw Disagreement(error.reason)
    }
    let scenario = try LogctlScenario(one.command)
    let undisturbed = try LogctlRun(scenario, logctl)
    return try one.run(scenario, logctl, calls, undisturbed: undisturbed).problem.map {
      Violation(what: $0, in: one)
    }
  }
}
