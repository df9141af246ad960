import Glibc

do {
  let words = Array(CommandLine.arguments.dropFirst())
  if words.first == ContestantProcess.flag {
    try ContestantProcess.serve(Array(words.dropFirst()))
  } else if words.first == Job.flag {
    try Job.serve(Array(words.dropFirst()))
  } else if words.contains("--help") || words.contains("-h") {
    say(Arguments.usage)
  } else {
    let arguments = try Arguments(words)
    try arguments.other.map { try compare(with: $0, arguments) } ?? benchmark(arguments)
  }
} catch {
  complain("benchmark: \(error)")
  exit(1)
}

/// Every contestant, in one table.
func benchmark(_ arguments: Arguments) throws {
  let workloads = allWorkloads(arguments.scale).filter { arguments.selects($0.name) }
  if arguments.isList {
    for workload in workloads { say("\(workload.name.padded(20))\(workload.title)") }
    return
  }
  let runner = Runner(rounds: arguments.rounds, size: arguments.size, parent: arguments.directory)
  let report = TextReport(judges: arguments.size != .quick)
  if !arguments.isJSON { say(Machine.description(directory: arguments.directory) + "\n" + TextReport.head()) }
  var results: [Result] = []
  for workload in workloads {
    let result = try runner.run(workload)
    say(arguments.isJSON ? JSONReport.lines(result) : report.block(result))
    results.append(result)
  }
  if !arguments.isJSON { say(report.notes(results)) }
  if let path = arguments.plot, let svg = ScalingPlot.svg(results) { try ScalingPlot.write(svg, to: path) }
}

/// Two builds of LogStore, A being the other program's.
func compare(with other: String, _ arguments: Arguments) throws {
  let runner = Runner(rounds: arguments.rounds, size: arguments.size, parent: arguments.directory)
  let players = [
    Runner.Player(name: "A", contestant: LogStoreStore.name, program: other),
    Runner.Player(name: "B", contestant: LogStoreStore.name),
  ]
  say(ComparisonReport.head(players.map(\.name)))
  for workload in allWorkloads(arguments.scale) where arguments.selects(workload.name) {
    say(ComparisonReport.block(try runner.run(workload, players)))
  }
}
