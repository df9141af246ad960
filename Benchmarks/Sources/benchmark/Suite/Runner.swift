/// Runs a workload: every contestant once a round, in turns, so that a machine that slows down slows down all of them.
struct Runner {
  let rounds: Int
  let size: Scale.Size
  /// Where the temporary directories go.
  let parent: String

  /// A contestant, and the program that plays it.
  struct Player {
    /// What it is called in the result.
    let name: String
    let contestant: String
    var program = ContestantProcess.thisProgram
  }

  func run(_ workload: Workload) throws -> Result {
    try run(workload, workload.contestants.map { Player(name: $0.name, contestant: $0.name) })
  }

  func run(_ workload: Workload, _ players: [Player]) throws -> Result {
    let scratch = try Scratch(in: parent)
    let processes = try players.map { player in
      let place = try scratch.makeDirectory(player.name)
      return try ContestantProcess(player.program, [workload.name, player.contestant, place, size.rawValue])
    }
    var outcomes = players.map { Result.Outcome(name: $0.name) }

    /// One turn for each; each begins a round as often as the others.
    func round(_ number: Int, _ probe: Probe, counts: Bool = true) throws {
      for turn in processes.indices {
        let index = (turn + number) % processes.count
        let sample = try processes[index].turn(probe)
        if counts { outcomes[index].add(sample) }
      }
    }

    let timing = workload.latencies == .timed ? Probe.latencies : .time
    if workload.rounds.warmsUp { try round(0, timing, counts: false) }
    let count = min(rounds, workload.rounds.most)
    for number in 1...count * workload.rounds.repetition { try round(number, timing) }
    if workload.latencies == .apart { for number in 1...count { try round(number, .latencies) } }
    if workload.counts != .none { try round(0, .costs) }
    if workload.counts == .all { try round(0, .systemCalls) }
    for process in processes { try process.finish() }
    return Result(workload: workload, contestants: outcomes)
  }
}
