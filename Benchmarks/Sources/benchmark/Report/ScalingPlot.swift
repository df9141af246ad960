import Glibc

/// How times grow with the size of the work, as a drawing (SVG) with a panel for each kind of work.
struct ScalingPlot {
  enum Kind: CaseIterable {
    case putsByRecords, durablePutsByThreads, openingByRecords

    var title: String {
      switch self {
      case .putsByRecords: "a put, not synced"
      case .durablePutsByThreads: "a durable put"
      case .openingByRecords: "opening, and reading a value"
      }
    }

    var axis: String {
      switch self {
      case .putsByRecords, .openingByRecords: "records in the page"
      case .durablePutsByThreads: "threads"
      }
    }
  }

  private struct Line {
    let name: String
    let points: [(x: Double, y: Double)]
  }

  private static let (width, height) = (360.0, 300.0)
  private static let (left, right, top, bottom) = (64.0, 16.0, 40.0, 44.0)
  private static let colours = [
    LogStoreStore.name: "#d1495b", Contestant.bare: "#555555", SQLiteStore.name: "#00798c", LMDBStore.name: "#edae49",
    LevelDBStore.name: "#66a182", RocksDBStore.name: "#5e548e",
  ]

  /// Nil where no two points belong together.
  static func svg(_ results: [Result]) -> String? {
    let panels = Kind.allCases.map { kind in (kind, lines(kind, results)) }.filter { !$0.1.isEmpty }
    guard !panels.isEmpty else { return nil }
    let names = ([Contestant.bare] + allStores.map { $0.name }).filter { name in
      panels.contains { $0.1.contains { $0.name == name } }
    }
    let total = (width * Double(panels.count), height + 28)
    var text = """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(fixed(total.0, 0)) \(fixed(total.1, 0))" \
      font-family="sans-serif" font-size="11">
      <rect width="100%" height="100%" fill="white"/>

      """
    for (index, panel) in panels.enumerated() {
      text += #"<g transform="translate(\#(fixed(Double(index) * width, 0)),0)">"# + "\n"
      text += draw(panel.0, panel.1) + "</g>\n"
    }
    for (index, name) in names.enumerated() {
      let x = left + Double(index) * 90
      text += #"<rect x="\#(fixed(x, 0))" y="\#(fixed(height + 6, 0))" width="14" height="4" fill="\#(colour(name))"/>"#
      text += label(x + 20, height + 12, name, "start")
    }
    return text + "</svg>\n"
  }

  static func write(_ svg: String, to path: String) throws {
    let file = try PlainFile(path, flags: O_WRONLY | O_CREAT | O_TRUNC)
    try Array(svg.utf8).withUnsafeBytes { try file.append($0) }
  }

  private static func lines(_ kind: Kind, _ results: [Result]) -> [Line] {
    let results = results.filter { $0.workload.point?.plot == kind }
    let names = ([Contestant.bare] + allStores.map { $0.name })
    return names.compactMap { name in
      let points = results.compactMap { result -> (x: Double, y: Double)? in
        guard let x = result.workload.point?.x, let y = result.value(of: name, .time), y > 0 else { return nil }
        return (x, y)
      }
      return Set(points.map(\.x)).count > 1 ? Line(name: name, points: points) : nil
    }
  }

  // MARK: Drawing

  /// Both axes are logarithmic: a power of ten is as wide everywhere.
  private static func draw(_ kind: Kind, _ lines: [Line]) -> String {
    let points = lines.flatMap(\.points)
    let (xs, ys) = (points.map { log10($0.x) }, points.map { log10($0.y) })
    guard let firstX = xs.min(), let lastX = xs.max(), let lowest = ys.min(), let highest = ys.max() else { return "" }
    let (bottomY, topY) = (lowest.rounded(.down), highest.rounded(.up))
    func x(_ value: Double) -> Double {
      left + (log10(value) - firstX) / (lastX - firstX) * (width - left - right)
    }
    func y(_ value: Double) -> Double {
      height - bottom - (log10(value) - bottomY) / max(topY - bottomY, 1) * (height - top - bottom)
    }

    var text = label(left, 20, kind.title, "start", weight: "bold") + "\n"
    for power in Int(bottomY)...Int(topY) {
      let value = pow(10, Double(power))
      text += stroke([(left, y(value)), (width - right, y(value))], "#dddddd", 1)
      text += label(left - 6, y(value) + 4, duration(value), "end") + "\n"
    }
    for value in Set(points.map(\.x)).sorted() {
      text += label(x(value), height - bottom + 16, axisText(value), "middle") + "\n"
    }
    text += label((left + width - right) / 2, height - 8, kind.axis, "middle") + "\n"
    for line in lines {
      let path = line.points.sorted { $0.x < $1.x }.map { (x($0.x), y($0.y)) }
      text += stroke(path, colour(line.name), line.name == LogStoreStore.name ? 3 : 1.5)
      for point in path {
        text += #"<circle cx="\#(fixed(point.0, 1))" cy="\#(fixed(point.1, 1))" r="2.5" fill="\#(colour(line.name))"/>"#
      }
      text += "\n"
    }
    return text
  }

  private static func axisText(_ value: Double) -> String {
    for (unit, size) in [("M", 1e6), ("k", 1e3)] where value >= size { return significant(value / size) + unit }
    return significant(value)
  }

  private static func colour(_ name: String) -> String { colours[name] ?? "black" }

  private static func stroke(_ points: [(Double, Double)], _ colour: String, _ width: Double) -> String {
    let path = points.map { "\(fixed($0.0, 1)),\(fixed($0.1, 1))" }.joined(separator: " ")
    return #"<polyline points="\#(path)" fill="none" stroke="\#(colour)" stroke-width="\#(fixed(width, 1))"/>"# + "\n"
  }

  private static func label(
    _ x: Double, _ y: Double, _ text: String, _ anchor: String, weight: String = "normal"
  ) -> String {
    #"<text x="\#(fixed(x, 1))" y="\#(fixed(y, 1))" text-anchor="\#(anchor)" font-weight="\#(weight)">\#(text)</text>"#
  }
}
