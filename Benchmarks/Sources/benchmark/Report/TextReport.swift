/// The table: for each workload a block with its times, LogStore's time over each other's, what else was measured, and the
/// targets.
struct TextReport {
  private static let columns =
    [LogStoreStore.name, Contestant.bare] + allStores.dropFirst().map { $0.name } + [Contestant.reference]
  private static let first = 20
  private static let width = 11

  /// Whether sizes are those that the targets are for.
  let judges: Bool

  static func head() -> String {
    let names = columns.map { $0.aligned(width) }.joined()
    let line = "workload".padded(first) + names
    return line + "\n" + String(repeating: "─", count: line.count)
  }

  func block(_ result: Result) -> String {
    var lines = [TextReport.row(result.workload.name, result, .time)]
    let ratios = TextReport.columns.map { result.ratio(to: $0).map(ratioText) ?? "" }
    if ratios.contains(where: { !$0.isEmpty }) {
      lines.append(
        "  LogStore's ÷".padded(TextReport.first) + ratios.map { $0.aligned(TextReport.width) }.joined())
    }
    for measure in Measure.allCases.dropFirst()
    where result.contestants.contains(where: { ($0.value(measure) ?? 0) != 0 }) {
      lines.append(TextReport.row("  " + measure.label, result, measure))
    }
    if judges { lines += TextReport.verdicts(result).map { "  target: \($0.text)" } }
    return lines.map { String($0.reversed().drop { $0 == " " }.reversed()) }.joined(separator: "\n") + "\n"
  }

  private static func row(_ label: String, _ result: Result, _ measure: Measure) -> String {
    label.padded(first)
      + columns.map { (result.value(of: $0, measure).map(measure.text) ?? "–").aligned(width) }.joined()
  }

  private static func verdicts(_ result: Result) -> [(text: String, isMet: Bool)] {
    result.workload.targets.compactMap { target in
      guard let value = target.value(in: result) else { return nil }
      let found = target.against == nil ? target.measure.text(value) : ratioDigits(value)
      let isMet = target.isMet(value)
      return ("\(target.text): \(found), \(isMet ? "met" : "MISSED")", isMet)
    }
  }

  /// What the table leaves to say.
  func notes(_ results: [Result]) -> String {
    var text = """
      Times are medians of the rounds, and ratios medians of the ratios within the rounds. p50 and p99 are over the
      operations of all rounds; the longest is the median of the rounds' longest. What is counted is counted in a turn of
      its own, an operation; memory includes pages of mapped files. "bytes written" are those handed to the system, "to
      disk" the pages that it wrote, or will write, because of that.


      """
    for result in results { text += TextReport.wrapped(result.workload.name, result.workload.title) }
    text += "\n"
    for store in allStores { text += TextReport.wrapped(store.name, store.settings) }
    guard judges else { return text + "\nSmall sizes: no target is judged.\n" }
    let all = results.flatMap { result in TextReport.verdicts(result).map { (result.workload.name, $0) } }
    text += "\n\(all.count { $0.1.isMet }) of \(all.count) targets are met.\n"
    for (name, verdict) in all where !verdict.isMet { text += TextReport.wrapped(name, verdict.text) }
    return text
  }

  /// A name and its explanation, in lines of 110 characters.
  static func wrapped(_ name: String, _ text: String) -> String {
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
