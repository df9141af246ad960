/// What the tiers have seen, for people.
struct Table {
  private let rows: [Tally.Row]

  init(_ rows: [Tally.Row]) { self.rows = rows }

  var text: String {
    let head = ["tier", "states", "distinct", "seconds", "per second", "violations"]
    let lines = [head] + rows.filter { $0.skipped == nil }.map(Table.cells)
    let widths = head.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
    let table = lines.map { line in
      line.indices.map { column in
        let space = String(repeating: " ", count: widths[column] - line[column].count)
        return column == 0 ? line[column] + space : space + line[column]
      }.joined(separator: "  ")
    }
    let skipped = rows.compactMap { row in row.skipped.map { "SKIPPED \(row.name): \($0)" } }
    return (table + skipped).joined(separator: "\n")
  }

  private static func cells(_ row: Tally.Row) -> [String] {
    let rate = row.seconds > 0 ? grouped(Int(Double(row.states) / row.seconds)) : ""
    return [
      row.name, grouped(row.states), row.distinct.map(grouped) ?? "", row.seconds > 0 ? grouped(Int(row.seconds)) : "",
      rate, grouped(row.violations),
    ]
  }

  /// With a comma after every third digit.
  static func grouped(_ number: Int) -> String {
    var text = ""
    for (place, digit) in String(number).reversed().enumerated() {
      if place > 0, place % 3 == 0 { text.append(",") }
      text.append(digit)
    }
    return String(text.reversed())
  }
}
