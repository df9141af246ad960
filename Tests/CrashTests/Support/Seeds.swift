import Glibc

/// Which seeds a test runs: a few by default, one or many where the environment says so.
enum Seeds {
  static func some(_ usual: Range<UInt64>) -> [UInt64] {
    if let one = number("LOGSTORE_SEED") { return [one] }
    guard let count = number("LOGSTORE_SEEDS") else { return Array(usual) }
    return Array(usual.lowerBound..<(usual.lowerBound + count))
  }

  /// Whether it is asked for more than a few, as in a long run.
  static var areMany: Bool { number("LOGSTORE_SEEDS") != nil }

  private static func number(_ name: String) -> UInt64? {
    guard let text = unsafe getenv(name) else { return nil }
    return unsafe UInt64(String(cString: text))
  }
}
