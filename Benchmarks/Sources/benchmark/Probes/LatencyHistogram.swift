/// How often operations took how long: 128 steps for each power of two, so that a value is known to 0.8 %, in the same
/// memory for any number of them.
///
/// Invariant behind the unchecked conformance: used by one thread at a time.
final class LatencyHistogram: @unchecked Sendable {
  private var counts = [UInt64](repeating: 0, count: 36 << 7)
  private var total: UInt64 = 0
  private(set) var longest: UInt64 = 0

  @inline(__always)
  func record(_ nanoseconds: UInt64) {
    counts[min(LatencyHistogram.step(nanoseconds), counts.count - 1)] += 1
    total += 1
    if nanoseconds > longest { longest = nanoseconds }
  }

  /// Does an operation for each index; one ends when the next begins.
  @inline(__always)
  func recordEach(_ operations: Range<Int>, _ body: (Int) throws -> Void) rethrows {
    var start = nanoseconds()
    for index in operations {
      try body(index)
      let end = nanoseconds()
      record(end - start)
      start = end
    }
  }

  func merge(_ other: LatencyHistogram) {
    for step in counts.indices { counts[step] += other.counts[step] }
    total += other.total
    longest = max(longest, other.longest)
  }

  /// Nanoseconds that this part of the operations did not exceed.
  func quantile(_ part: Double) -> Double {
    guard total > 0 else { return .nan }
    let rank = max(1, UInt64((part * Double(total)).rounded(.up)))
    var seen: UInt64 = 0
    for step in counts.indices {
      seen += counts[step]
      if seen >= rank { return min(LatencyHistogram.middle(of: step), Double(longest)) }
    }
    return Double(longest)
  }

  @inline(__always)
  private static func step(_ value: UInt64) -> Int {
    guard value >= 128 else { return Int(value) }
    let power = 63 - value.leadingZeroBitCount
    return (power - 6) << 7 + Int(value >> UInt64(power - 7)) & 127
  }

  private static func middle(of step: Int) -> Double {
    guard step >= 128 else { return Double(step) }
    let power = step >> 7 + 6
    return (Double(128 + step & 127) + 0.5) * Double(1 << (power - 7))
  }

  /// `longest`, then `step:count` for each step that occurs, with commas between.
  var text: String {
    var words = [String(longest)]
    for step in counts.indices where counts[step] > 0 { words.append("\(step):\(counts[step])") }
    return words.joined(separator: ",")
  }

  init() {}

  init?(text: some StringProtocol) {
    let words = text.split(separator: ",")
    guard let first = words.first, let longest = UInt64(String(first)) else { return nil }
    self.longest = longest
    for word in words.dropFirst() {
      let parts = word.split(separator: ":").compactMap { UInt64(String($0)) }
      guard parts.count == 2, parts[0] < UInt64(counts.count) else { return nil }
      counts[Int(parts[0])] += parts[1]
      total += parts[1]
    }
  }
}
