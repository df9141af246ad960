/// What a workload came to.
struct Result {
  let workload: Workload
  let contestants: [Outcome]

  /// What one contestant came to.
  struct Outcome {
    let name: String
    /// By round, for what is measured in each round; one value for what is counted once.
    private(set) var series: [Measure: [Double]] = [:]
    private var latencies = LatencyHistogram()

    init(name: String) { self.name = name }

    mutating func add(_ sample: Sample) {
      for (measure, value) in sample.values { series[measure, default: []].append(value) }
      guard let histogram = sample.latencies else { return }
      series[.longest, default: []].append(Double(histogram.longest))
      latencies.merge(histogram)
      // Over the operations of all rounds: one round may have too few for the hundredth.
      series[.p50] = [latencies.quantile(0.5)]
      series[.p99] = [latencies.quantile(0.99)]
    }

    /// The median over the rounds.
    func value(_ measure: Measure) -> Double? { series[measure].map(Result.median) }
  }

  func outcome(_ name: String) -> Outcome? { contestants.first { $0.name == name } }
  func value(of name: String, _ measure: Measure) -> Double? { outcome(name)?.value(measure) }

  /// LogStore's over another's: the median of the ratios within the rounds for what each round measures.
  func ratio(to name: String, _ measure: Measure = .time) -> Double? {
    guard name != LogStoreStore.name, let other = outcome(name) else { return nil }
    return outcome(LogStoreStore.name).flatMap { Result.ratio($0, other, measure) }
  }

  static func ratio(_ one: Outcome, _ other: Outcome, _ measure: Measure) -> Double? {
    let ratios = ratios(one, other, measure)
    return ratios.isEmpty ? nil : median(ratios)
  }

  /// By round.
  static func ratios(_ one: Outcome, _ other: Outcome, _ measure: Measure) -> [Double] {
    guard let above = one.series[measure], let below = other.series[measure] else { return [] }
    return zip(above, below).compactMap { $1 == 0 ? nil : $0 / $1 }
  }

  static func median(_ values: [Double]) -> Double { quantile(0.5, values) }

  static func quantile(_ part: Double, _ values: [Double]) -> Double {
    let sorted = values.sorted()
    guard !sorted.isEmpty else { return .nan }
    let place = part * Double(sorted.count - 1)
    let below = sorted[Int(place)]
    return below + (sorted[min(Int(place) + 1, sorted.count - 1)] - below) * (place - place.rounded(.down))
  }
}
