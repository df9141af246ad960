/// A point in a page's history: which journal, and how many operations the page had seen.
///
/// A crash may give a log sequence number a second time, to another operation; it never gives a position twice. Writers
/// demand a position, readers resume from one, tools print them.
public struct Position: Hashable, Sendable {
  /// The salt of the journal that holds the operation.
  public var salt: UInt64
  /// Operations since the page was created.
  public var lsn: UInt64

  public init(salt: UInt64, lsn: UInt64) {
    self.salt = salt
    self.lsn = lsn
  }
}

extension Position: CustomStringConvertible, LosslessStringConvertible {
  public var description: String {
    let hex = String(salt, radix: 16)
    return String(repeating: "0", count: 16 - hex.count) + hex + ":\(lsn)"
  }

  public init?(_ description: String) {
    let parts = description.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0].count == 16, let salt = UInt64(parts[0], radix: 16), let lsn = UInt64(parts[1])
    else { return nil }
    self.init(salt: salt, lsn: lsn)
  }
}

/// A page's identity: 16 random bytes that stand in each of its files. The directory's name is not part of it.
public struct PageID: Hashable, Sendable, CustomStringConvertible {
  public var high: UInt64
  public var low: UInt64

  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// In the form of a UUID, lower case.
  public var description: String {
    func hex(_ value: UInt64, _ digits: Int) -> String {
      let text = String(value, radix: 16)
      return String(repeating: "0", count: digits - text.count) + text
    }
    return hex(high >> 32, 8) + "-" + hex((high >> 16) & 0xFFFF, 4) + "-" + hex(high & 0xFFFF, 4) + "-"
      + hex(low >> 48, 4) + "-" + hex(low & 0xFFFF_FFFF_FFFF, 12)
  }
}
