/// Moments as RFC 3339 writes them, in nanoseconds since 1970-01-01T00:00:00Z.
package struct Timestamp: Equatable, Sendable {
  package var nanoseconds: Int64

  package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// Parses `2026-11-30T09:00:00Z`, with or without a fraction, with `Z` or an offset such as `+01:00`.
  ///
  /// Digits of a fraction past the ninth are ignored. Nil for anything else, and for years that 64 bits of nanoseconds
  /// do not reach (before 1678, after 2261).
  package init?(_ text: String) {
    var reader = Reader(text: Array(text.utf8))
    guard let year = reader.number(digits: 4), reader.skip("-"),
      let month = reader.number(digits: 2), reader.skip("-"),
      let day = reader.number(digits: 2), reader.skip("T") || reader.skip("t") || reader.skip(" "),
      let hour = reader.number(digits: 2), reader.skip(":"),
      let minute = reader.number(digits: 2), reader.skip(":"),
      let second = reader.number(digits: 2),
      let fraction = reader.fraction(), let offset = reader.offset(), reader.isAtEnd,
      (1678...2261).contains(year), (1...12).contains(month),
      (1...Timestamp.days(in: month, of: year)).contains(day), hour < 24, minute < 60, second <= 60
    else { return nil }
    let seconds = Timestamp.days(year, month, day) * 86_400 + Int64(hour * 3600 + minute * 60 + second - offset * 60)
    // A leap second stands only at the end of a day of UTC, and counts as the second after it.
    if second == 60 && seconds % 86_400 != 0 { return nil }
    nanoseconds = seconds * 1_000_000_000 + Int64(fraction)
  }

  private struct Reader {
    let text: [UInt8]
    var at = 0

    var isAtEnd: Bool { at == text.count }

    mutating func skip(_ character: UnicodeScalar) -> Bool {
      guard at < text.count, UInt32(text[at]) == character.value else { return false }
      at += 1
      return true
    }

    mutating func digit() -> Int? {
      guard at < text.count, text[at] >= 0x30, text[at] <= 0x39 else { return nil }
      at += 1
      return Int(text[at - 1]) - 0x30
    }

    mutating func number(digits: Int) -> Int? {
      var value = 0
      for _ in 0..<digits {
        guard let next = digit() else { return nil }
        value = value * 10 + next
      }
      return value
    }

    /// Nanoseconds; 0 where there is no fraction.
    mutating func fraction() -> Int? {
      guard skip(".") else { return 0 }
      guard let first = digit() else { return nil }
      var value = first * 100_000_000
      var unit = 10_000_000
      while let next = digit() {
        value += next * unit
        unit /= 10
      }
      return value
    }

    /// Minutes east of UTC.
    mutating func offset() -> Int? {
      if skip("Z") || skip("z") { return 0 }
      let sign = skip("+") ? 1 : skip("-") ? -1 : 0
      guard sign != 0, let hours = number(digits: 2), skip(":"), let minutes = number(digits: 2), hours < 24,
        minutes < 60
      else { return nil }
      return sign * (hours * 60 + minutes)
    }
  }

  private static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

  private static func days(in month: Int, of year: Int) -> Int {
    switch month {
    case 2: isLeap(year) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// Days since 1970-01-01, with years that begin in March so that the leap day is the last.
  private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int64 {
    let year = month <= 2 ? year - 1 : year
    let era = year / 400
    let yearOfEra = year % 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return Int64(era * 146_097 + dayOfEra - 719_468)
  }
}

extension Timestamp: CustomStringConvertible {
  /// In UTC, with as many digits of the fraction as are not zero.
  package var description: String {
    func pad(_ value: Int, _ digits: Int) -> String {
      let text = String(value)
      return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }
    let (seconds, nanos) = Timestamp.divide(nanoseconds, 1_000_000_000)
    let (days, secondOfDay) = Timestamp.divide(seconds, 86_400)
    let shifted = Int(days) + 719_468
    let era = shifted / 146_097
    let dayOfEra = shifted % 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    let time = Int(secondOfDay)
    var text = pad(year, 4) + "-" + pad(month, 2) + "-" + pad(day, 2)
    text += "T" + pad(time / 3600, 2) + ":" + pad(time / 60 % 60, 2) + ":" + pad(time % 60, 2)
    if nanos != 0 {
      var fraction = pad(Int(nanos), 9)
      while fraction.hasSuffix("0") { fraction.removeLast() }
      text += "." + fraction
    }
    return text + "Z"
  }

  /// Rounds down, so that the remainder is never negative.
  private static func divide(_ value: Int64, _ by: Int64) -> (Int64, Int64) {
    let (quotient, remainder) = value.quotientAndRemainder(dividingBy: by)
    return remainder < 0 ? (quotient - 1, remainder + by) : (quotient, remainder)
  }
}
