import Glibc

do {
  let words = CommandLine.arguments.dropFirst()
  if words.first == Child.childFlag {
    say(try OpenJobs.run(Array(words.dropFirst())))
  } else if words.contains("--help") || words.contains("-h") {
    say(Arguments.usage)
  } else {
    try benchmark(try Arguments(words))
  }
} catch {
  complain("benchmark: \(error)")
  exit(1)
}

func benchmark(_ arguments: Arguments) throws {
  let chosen = stores.filter { arguments.only.isEmpty || arguments.only.contains($0.name) }
  let workloads = allWorkloads(Scale(isQuick: arguments.isQuick, stores: chosen)).filter { arguments.selects($0.name) }
  if arguments.isList {
    for workload in workloads { say("\(workload.name.padded(20))\(workload.title)") }
    return
  }
  let runner = Runner(rounds: arguments.rounds, parent: arguments.directory)
  if !arguments.isJSON { say(TextReport.head()) }
  var results: [Result] = []
  for workload in workloads {
    let result = try runner.run(workload)
    say(arguments.isJSON ? JSONReport.lines(result) : TextReport.lines(result))
    results.append(result)
  }
  if !arguments.isJSON { say(TextReport.notes(results)) }
}
