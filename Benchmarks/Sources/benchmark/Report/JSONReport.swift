/// A line for each workload and contestant, for programs.
struct JSONReport {
  static func lines(_ result: Result) -> String {
    result.contestants.indices.map { line(result, $0) }.joined(separator: "\n")
  }

  private static func line(_ result: Result, _ index: Int) -> String {
    let rounds = result.times[index].map { fixed($0, 1) }.joined(separator: ",")
    var line = #"{"schema":"logstore.benchmark/1","workload":"\#(result.workload.name)""#
    line += #","contestant":"\#(result.contestants[index])","unit":"ns","median":\#(fixed(result.median(index), 1))"#
    if let ratio = result.ratio(to: index) { line += #","ratio":\#(fixed(ratio, 4))"# }
    if let target = result.workload.targets.first(where: { $0.against == result.contestants[index] }) {
      line += #","limit":\#(fixed(target.limit, 2)),"inclusive":\#(target.isInclusive)"#
    }
    return line + #","rounds":[\#(rounds)]}"#
  }
}
