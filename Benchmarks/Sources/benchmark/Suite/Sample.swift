/// What one turn of a contestant came to. It travels between processes as one line of text.
struct Sample {
  var values: [Measure: Double] = [:]
  /// How long the single operations took, where the turn was to tell.
  var latencies: LatencyHistogram?

  subscript(_ measure: Measure) -> Double? {
    get { values[measure] }
    set { values[measure] = newValue }
  }

  static func time(_ nanoseconds: UInt64, _ operations: Int = 1) -> Sample {
    Sample(values: [.time: Double(nanoseconds) / Double(operations)])
  }

  /// `name=value` with a blank between; the histogram last.
  var line: String {
    var words = values.map { "\($0.key.rawValue)=\($0.value)" }
    if let latencies { words.append("latencies=\(latencies.text)") }
    return words.joined(separator: " ")
  }

  init(values: [Measure: Double] = [:], latencies: LatencyHistogram? = nil) {
    self.values = values
    self.latencies = latencies
  }

  init?(line: some StringProtocol) {
    for word in line.split(separator: " ") {
      let parts = word.split(separator: "=", maxSplits: 1)
      guard parts.count == 2 else { return nil }
      if parts[0] == "latencies" {
        guard let histogram = LatencyHistogram(text: parts[1]) else { return nil }
        latencies = histogram
      } else {
        guard let measure = Measure(rawValue: String(parts[0])), let value = Double(String(parts[1])) else {
          return nil
        }
        values[measure] = value
      }
    }
  }
}
