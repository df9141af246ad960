import Dispatch
import Synchronization

/// Kills the shipped command in front of each of its system calls, which is behind the one before, and fails each.
struct LogctlSweep {
  static let row = "t1 logctl"
  static let unreached = ", call not reached"
  /// What CI runs of all cases, from each subcommand alike.
  private static let inCI = 200

  static func run(_ plan: Plan, _ tally: Tally) throws {
    let tools: LogctlTools
    do throws(LogctlTools.Missing) {
      tools = try LogctlTools.find()
    } catch {
      return tally.skip(row, because: error.reason)
    }
    var beside: [String] = []
    for command in LogctlScenario.Command.allCases where !plan.isOver {
      let scenario = try LogctlScenario(command)
      let (undisturbed, calls, others) = try tools.undisturbed(scenario)
      beside.append("\(command) \(calls.count) and \(others)")
      let all = cases(command, calls)
      let chosen = plan.isCI ? some(of: all) : all
      let next = Atomic(0)
      DispatchQueue.concurrentPerform(iterations: plan.workers) { _ in
        while !plan.isOver {
          let number = next.add(1, ordering: .relaxed).oldValue
          guard number < chosen.count else { return }
          work(chosen[number], scenario, tools, undisturbed, plan, tally)
        }
      }
    }
    CrashCommand.say(
      "\(row): calls of the first thread, and of others, which are not reached: \(beside.joined(separator: ", "))")
    judge(tally)
  }

  private static func cases(_ command: LogctlScenario.Command, _ calls: [SystemCall]) -> [LogctlCase] {
    calls.flatMap { call in
      Interference.allCases.flatMap { interference in
        (interference.canRepeat ? [false, true] : [false]).map {
          LogctlCase(command, interference, call, isRepeating: $0)
        }
      }
    }
  }

  private static func some(of all: [LogctlCase]) -> [LogctlCase] {
    // A step that has no factor in common with the eight ways, so that all of them come up.
    let step = max(1, all.count / inCI) | 1
    return stride(from: 0, to: all.count, by: step).map { all[$0] }
  }

  private static func work(
    _ one: LogctlCase, _ scenario: LogctlScenario, _ tools: LogctlTools, _ undisturbed: LogctlRun, _ plan: Plan,
    _ tally: Tally
  ) {
    let start = ContinuousClock.now
    do {
      let (fired, problem) = try one.run(scenario, tools, undisturbed: undisturbed)
      if let problem { tally.violation(Violation(what: problem, in: one), in: row) }
      tally.add(fired ? row : row + unreached, states: 1, work: .init(since: start, of: plan.workers))
    } catch {
      tally.violation(Violation(what: "\(error)", in: one), in: row)
    }
  }

  /// The command's first thread makes the same calls each time: in thirty traces on a busy machine not one was another. Where
  /// cases do not come to theirs, the calls are counted wrongly, and the row proves nothing.
  static func judge(_ tally: Tally) {
    func states(_ name: String) -> Int { tally.rows.first { $0.name == name }?.states ?? 0 }
    let (fired, missed) = (states(row), states(row + unreached))
    guard missed > fired / 1000 else { return }
    tally.violation(
      Violation(what: "\(missed) of \(fired + missed) cases never came to their call"), in: row)
  }

  static func replay(_ one: LogctlCase) throws -> Violation? {
    let tools: LogctlTools
    do throws(LogctlTools.Missing) {
      tools = try LogctlTools.find()
    } catch {
      throw Disagreement(error.reason)
    }
    let scenario = try LogctlScenario(one.command)
    let undisturbed = try tools.undisturbed(scenario).run
    return try one.run(scenario, tools, undisturbed: undisturbed).problem.map {
      Violation(what: $0, in: one)
    }
  }
}
