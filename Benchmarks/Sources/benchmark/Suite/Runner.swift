/// Runs a workload: every contestant once a round, in turns, so that a machine that slows down slows down all of them.
struct Runner {
  let rounds: Int
  /// Where the temporary directories go.
  let parent: String

  func run(_ workload: Workload) throws -> Result {
    let scratch = try Scratch(in: parent)
    let contestants = try workload.prepare(scratch)
    var times = [[Double]](repeating: [], count: contestants.count)
    for round in 0...rounds * workload.repetition {
      for turn in contestants.indices {
        // Each begins a round as often as the others.
        let index = (turn + round) % contestants.count
        let time = Double(try contestants[index].run()) / Double(workload.operations)
        // The first round pays for fresh files and memory.
        if round > 0 { times[index].append(time) }
      }
    }
    for contestant in contestants { try contestant.finish() }
    return Result(workload: workload, contestants: contestants.map(\.name), times: times)
  }
}
