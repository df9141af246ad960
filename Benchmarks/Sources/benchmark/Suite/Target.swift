/// A limit on what LogStore comes to, or on how that compares with another contestant.
struct Target {
  let measure: Measure
  /// Nil for a limit on the measure itself.
  let against: String?
  let limit: Double
  /// Whether the limit itself is still good.
  let isInclusive: Bool

  /// At most `limit` times what `against` comes to.
  static func atMost(_ limit: Double, of against: String, _ measure: Measure = .time) -> Target {
    Target(measure: measure, against: against, limit: limit, isInclusive: true)
  }

  /// At least so many times as fast.
  static func speed(_ factor: Double, of against: String) -> Target { atMost(1 / factor, of: against) }

  static func faster(than against: String) -> Target {
    Target(measure: .time, against: against, limit: 1, isInclusive: false)
  }

  static func atMost(_ limit: Double, _ measure: Measure) -> Target {
    Target(measure: measure, against: nil, limit: limit, isInclusive: true)
  }

  func isMet(_ value: Double) -> Bool { isInclusive ? value <= limit : value < limit }

  /// What the target is about, in this result; nil where that was not measured.
  func value(in result: Result) -> Double? {
    guard let against else { return result.value(of: LogStoreStore.name, measure) }
    return result.ratio(to: against, measure)
  }

  var text: String {
    let sign = isInclusive ? "≤" : "<"
    guard let against else { return "\(measure.label.trimmed) \(sign) \(measure.text(limit))" }
    return "\(measure.label.trimmed) \(sign) \(ratioDigits(limit)) × \(against)"
  }
}
