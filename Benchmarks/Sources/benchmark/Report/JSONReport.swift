/// A line for each workload, contestant and measure, for programs. Durations are nanoseconds, sizes bytes.
struct JSONReport {
  static func lines(_ result: Result) -> String {
    result.contestants.flatMap { outcome in
      Measure.allCases.compactMap { measure in
        outcome.series[measure].map { line(result, outcome, measure, $0) }
      }
    }.joined(separator: "\n")
  }

  private static func line(
    _ result: Result, _ outcome: Result.Outcome, _ measure: Measure, _ series: [Double]
  ) -> String {
    var fields = [
      #""schema":"logstore.benchmark/2""#, #""workload":"\#(result.workload.name)""#,
      #""contestant":"\#(outcome.name)""#, #""measure":"\#(measure.rawValue)""#,
      #""unit":"\#(unit(measure))""#, #""median":\#(number(Result.median(series)))"#,
    ]
    if let ratio = result.ratio(to: outcome.name, measure) { fields.append(#""ratio":\#(number(ratio))"#) }
    let isLogStore = outcome.name == LogStoreStore.name
    for target in result.workload.targets
    where target.measure == measure && (target.against == outcome.name || (target.against == nil && isLogStore)) {
      fields.append(#""limit":\#(number(target.limit)),"inclusive":\#(target.isInclusive)"#)
    }
    fields.append(#""rounds":[\#(series.map(number).joined(separator: ","))]"#)
    return "{" + fields.joined(separator: ",") + "}"
  }

  private static func unit(_ measure: Measure) -> String {
    switch measure.unit {
    case .duration: "ns"
    case .bytes: "B"
    case .count: "1"
    case .factor: "B/B"
    }
  }

  /// Four places behind the point, as JSON has numbers.
  private static func number(_ value: Double) -> String { value.isFinite ? fixed(value, 4) : "null" }
}
