/// The table: for each workload one line of times, and one of LogStore's time over each other's.
struct TextReport {
  private static let columns = [LogStoreStore.name, Contestant.bare] + stores.dropFirst().map { $0.name }
  private static let first = 20
  private static let width = 10

  static func head() -> String {
    let names = columns.map { $0.aligned(width) }.joined()
    let line = "workload".padded(first) + names + "  target"
    return line + "\n" + String(repeating: "─", count: line.count + 14)
  }

  static func lines(_ result: Result) -> String {
    var times = result.workload.name.padded(first)
    var ratios = "".padded(first)
    for name in columns {
      guard let index = result.index(of: name) else {
        times += "–".aligned(width)
        ratios += "".aligned(width)
        continue
      }
      times += duration(result.median(index)).aligned(width)
      ratios += (result.ratio(to: index).map(ratioText) ?? "").aligned(width)
    }
    let targets = result.workload.targets.compactMap { verdict($0, result) }
    return times + "  " + targets.joined(separator: "; ") + "\n" + ratios
  }

  private static func verdict(_ target: Target, _ result: Result) -> String? {
    guard let index = result.index(of: target.against), let ratio = result.ratio(to: index) else { return nil }
    let sign = target.isInclusive ? "≤" : "<"
    return "\(target.against) \(sign) \(fixed(target.limit, 2)): \(target.isMet(ratio) ? "met" : "MISSED")"
  }

  static func notes(_ results: [Result]) -> String {
    var text = "\nTimes are medians; × is LogStore's time over the other's in the same round, also the median.\n\n"
    for result in results { text += wrapped(result.workload.name, result.workload.title) }
    text += "\n"
    for store in stores { text += wrapped(store.name, store.settings) }
    return text
  }

  /// A name and its explanation, in lines of 110 characters.
  private static func wrapped(_ name: String, _ text: String) -> String {
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ") {
      if line.count + word.count > 108 - first {
        lines.append(line)
        line = ""
      }
      line += (line.isEmpty ? "" : " ") + word
    }
    lines.append(line)
    return name.padded(first) + lines.joined(separator: "\n" + "".padded(first)) + "\n"
  }
}
