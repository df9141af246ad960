/// Two builds of LogStore side by side.
struct ComparisonReport {
  private static let (first, width) = (20, 12)

  static func head(_ names: [String]) -> String {
    let line =
      "workload".padded(first) + names.map { $0.aligned(width) }.joined() + "B ÷ A".aligned(width) + "  quartiles"
    return line + "\n" + String(repeating: "─", count: line.count)
  }

  static func block(_ result: Result) -> String {
    let (one, other) = (result.contestants[0], result.contestants[1])
    var lines: [String] = []
    for measure in Measure.allCases {
      guard let a = one.value(measure), let b = other.value(measure), a != 0 || b != 0 else { continue }
      let label = measure == .time ? result.workload.name : "  " + measure.label
      var line = label.padded(first) + measure.text(a).aligned(width) + measure.text(b).aligned(width)
      if let ratio = Result.ratio(other, one, measure) {
        line += ratioText(ratio).aligned(width)
        let ratios = Result.ratios(other, one, measure)
        if ratios.count > 3 {
          let quartiles = [0.25, 0.75].map { ratioDigits(Result.quantile($0, ratios)) }
          line += "  " + quartiles.joined(separator: " to ")
        }
      }
      lines.append(line)
    }
    return lines.joined(separator: "\n") + "\n"
  }
}
