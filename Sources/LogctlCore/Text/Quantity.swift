/// Numbers for people.
package enum Quantity {
  /// `1234567` as `1,234,567`.
  package static func count(_ value: UInt64) -> String {
    let digits = Array(String(value).utf8)
    var text = ""
    for (index, digit) in digits.enumerated() {
      if index > 0 && (digits.count - index) % 3 == 0 { text += "," }
      text.unicodeScalars.append(UnicodeScalar(digit))
    }
    return text
  }

  /// `1 record`, `2 records`.
  package static func count(_ value: UInt64, _ noun: String, plural: String? = nil) -> String {
    count(value) + " " + (value == 1 ? noun : plural ?? noun + "s")
  }

  /// Bytes in powers of a thousand, with at most three digits: `999 B`, `1.50 MB`, `14.2 GB`.
  package static func bytes(_ value: UInt64) -> String {
    if value < 1000 { return "\(value) B" }
    var unit: UInt64 = 1000
    for name in ["kB", "MB", "GB", "TB", "PB", "EB"] {
      for (limit, decimals) in [(UInt64(1000), 2), (10_000, 1), (100_000, 0)] {
        // In hundredths of the unit, rounded to as many decimals as are shown.
        let step: UInt64 = decimals == 2 ? 1 : decimals == 1 ? 10 : 100
        let granule = unit / 100 * step
        let (up, overflow) = value.addingReportingOverflow(granule / 2)
        let rounded = (overflow ? value : up) / granule * step
        if rounded < limit { return decimal(hundredths: rounded, decimals: decimals) + " " + name }
      }
      if unit > UInt64.max / 1000 { break }
      unit *= 1000
    }
    return "\(value) B"
  }

  /// Nanoseconds as seconds or minutes: `0.004 s`, `1.24 s`, `12.4 s`, `3 min 05 s`.
  package static func duration(nanoseconds: UInt64) -> String {
    let milliseconds = (nanoseconds + 500_000) / 1_000_000
    switch milliseconds {
    case 0..<1000:
      let digits = String(milliseconds)
      return "0." + String(repeating: "0", count: 3 - digits.utf8.count) + digits + " s"
    case 1000..<9_995:
      return decimal(hundredths: (milliseconds + 5) / 10, decimals: 2) + " s"
    case 9_995..<59_950:
      return decimal(hundredths: (milliseconds + 50) / 100 * 10, decimals: 1) + " s"
    default:
      return time(seconds: (milliseconds + 500) / 1000)
    }
  }

  /// Whole seconds: `7 s`, `3 min 05 s`, `2 h 10 min`.
  package static func time(seconds: UInt64) -> String {
    func two(_ value: UInt64) -> String { (value < 10 ? "0" : "") + String(value) }
    if seconds < 60 { return "\(seconds) s" }
    if seconds < 3600 { return "\(seconds / 60) min \(two(seconds % 60)) s" }
    return count(seconds / 3600) + " h \(two(seconds % 3600 / 60)) min"
  }

  private static func decimal(hundredths: UInt64, decimals: Int) -> String {
    let whole = count(hundredths / 100)
    let fraction = hundredths % 100
    switch decimals {
    case 0: return whole
    case 1: return whole + "." + String(fraction / 10)
    default: return whole + "." + (fraction < 10 ? "0" : "") + String(fraction)
    }
  }
}
