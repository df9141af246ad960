import Dispatch
import Synchronization

/// Kills the shipped command in front of each of its system calls, which is behind the one before, and fails each.
struct LogctlSweep {
  static let row = "t1 logctl"
  /// What CI runs of all cases, from each subcommand alike.
  private static let inCI = 200

  static func run(_ plan: Plan, _ tally: Tally) throws {
    let tools: LogctlTools
    do throws(LogctlTools.Missing) {
      tools = try LogctlTools.find()
    } catch {
      return tally.skip(row, because: error.reason)
    }
    for command in LogctlScenario.Command.allCases where !plan.isOver {
      let scenario = try LogctlScenario(command)
      let all = try cases(command, tools.calls(scenario))
      let chosen = plan.isCI ? some(of: all) : all
      let next = Atomic(0)
      DispatchQueue.concurrentPerform(iterations: plan.workers) { _ in
        while !plan.isOver {
          let number = next.add(1, ordering: .relaxed).oldValue
          guard number < chosen.count else { return }
          work(chosen[number], scenario, tools, tally)
        }
      }
    }
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

  private static func work(_ one: LogctlCase, _ scenario: LogctlScenario, _ tools: LogctlTools, _ tally: Tally) {
    let start = ContinuousClock.now
    do {
      if let problem = try one.run(scenario, tools) {
        tally.violation(Violation(what: problem, replay: "t1:\(one)"), in: row)
      }
    } catch {
      tally.violation(Violation(what: "\(error)", replay: "t1:\(one)"), in: row)
    }
    tally.add(row, states: 1, seconds: (ContinuousClock.now - start) / .seconds(1))
  }

  static func replay(_ one: LogctlCase) throws -> Violation? {
    let tools: LogctlTools
    do throws(LogctlTools.Missing) {
      tools = try LogctlTools.find()
    } catch {
      throw Disagreement(error.reason)
    }
    return try one.run(LogctlScenario(one.command), tools).map { Violation(what: $0, replay: "t1:\(one)") }
  }
}
