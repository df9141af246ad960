import Glibc

/// A number with `digits` places behind the point.
func fixed(_ value: Double, _ digits: Int) -> String {
  guard value.isFinite else { return "–" }
  var scale = 1.0
  for _ in 0..<digits { scale *= 10 }
  let scaled = Int((value * scale).rounded())
  if digits == 0 { return String(scaled) }
  let fraction = String(abs(scaled) % Int(scale))
  return "\(scaled / Int(scale)).\(String(repeating: "0", count: digits - fraction.count))\(fraction)"
}

/// A duration with three significant digits.
func duration(_ nanoseconds: Double) -> String {
  for (unit, size) in [("s", 1e9), ("ms", 1e6), ("µs", 1e3)] where nanoseconds >= size {
    return "\(significant(nanoseconds / size)) \(unit)"
  }
  return "\(fixed(nanoseconds, 0)) ns"
}

/// A number of bytes with three significant digits.
func byteText(_ value: Double) -> String {
  for (unit, size) in [("GiB", 0x1p30), ("MiB", 0x1p20), ("KiB", 0x1p10)] where value >= size {
    return "\(significant(value / size)) \(unit)"
  }
  return "\(significant(value)) B"
}

/// Three significant digits, and no more than two behind the point.
func significant(_ value: Double) -> String {
  if value == value.rounded(), abs(value) < 1e15 { return fixed(value, 0) }
  return fixed(value, value >= 100 ? 0 : value >= 10 ? 1 : 2)
}

/// A ratio with as many digits as it deserves.
func ratioText(_ ratio: Double) -> String {
  "× " + ratioDigits(ratio)
}

func ratioDigits(_ ratio: Double) -> String {
  fixed(ratio, ratio >= 10 ? 1 : ratio >= 0.1 ? 2 : ratio >= 0.01 ? 3 : 4)
}

extension String {
  /// Without blanks at its ends.
  var trimmed: String {
    let start = drop { $0 == " " || $0 == "\t" }
    return String(start.reversed().drop { $0 == " " }.reversed())
  }

  func padded(_ width: Int) -> String { self + String(repeating: " ", count: Swift.max(0, width - count)) }
  func aligned(_ width: Int) -> String { String(repeating: " ", count: Swift.max(0, width - count)) + self }
}
