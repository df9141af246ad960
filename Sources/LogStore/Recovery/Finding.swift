/// One thing that opening or verifying a page found out of the ordinary.
public struct Finding: Sendable, Hashable {
  public enum Severity: Int, Comparable, Sendable {
    /// Worth knowing, and harmless.
    case note = 0
    /// What a crash leaves behind: nothing is known to be gone.
    case benign = 1
    /// Bytes that were durable are wrong or missing.
    case damage = 2
    public static func < (left: Severity, right: Severity) -> Bool { left.rawValue < right.rawValue }
  }

  /// What was found. New kinds may come in later versions.
  public enum Kind: String, Sendable, CaseIterable {
    /// The newest journal ends in bytes that are no complete batch.
    case tornTail = "torn-tail"
    /// The newest journal has no close mark: its writer crashed, was killed, or is still at work.
    case notClosed = "not-closed"
    /// A frame does not verify although it had been durable.
    case damagedFrame = "damaged-frame"
    /// A header does not verify.
    case damagedHeader = "damaged-header"
    /// What a file says verifies, and cannot be true.
    case impossible = "impossible"
    /// A snapshot does not verify.
    case damagedSnapshot = "damaged-snapshot"
    /// A file, or the end of one, is missing.
    case missing = "missing"
    /// A file that belongs to no reachable state because something before it is missing.
    case cutOff = "cut-off"
    /// Operations that an earlier recovery dropped for good.
    case recordedLoss = "recorded-loss"
    /// A file of the page that the present state does not need, kept or left over.
    case offChain = "off-chain"
    /// A temporary file of an interrupted operation.
    case temporary = "temporary"
    /// A file or folder that is not the page's: a sync client's copy, or a stranger.
    case stranger = "stranger"
    /// The journal's file is a copy; the next write starts a new one.
    case copied = "copied"
    /// Bytes that the system cannot read.
    case unreadable
    /// Bytes that a recovery has set aside.
    case quarantine = "quarantine"
    /// The clock ran backwards between marks.
    case clock = "clock"
  }

  public var kind: Kind
  public var severity: Severity
  /// The file's name inside the page's directory.
  public var file: String
  /// The bytes concerned. They end at `UInt64.max` where nobody knows how many are missing.
  public var range: Range<UInt64>?
  /// The log sequence numbers concerned: first to last of what is lost, or where it was found.
  public var lsns: ClosedRange<UInt64>?
  /// What was expected there and what was found, in one sentence.
  public var detail: String
  /// What is lost: how many operations at most; nil if nothing is.
  public var lostOperations: UInt64?
  /// Keys that the lost operations touched, as far as their frames can still be read.
  public var keys: [[UInt8]]
  /// What to do next; empty if nothing needs doing. `PAGE` stands for the page's path.
  public var remedy: String

  public init(
    _ kind: Kind, _ severity: Severity, file: String, range: Range<UInt64>? = nil, lsns: ClosedRange<UInt64>? = nil,
    detail: String, lostOperations: UInt64? = nil, keys: [[UInt8]] = [], remedy: String = ""
  ) {
    self.kind = kind
    self.severity = severity
    self.file = file
    self.range = range
    self.lsns = lsns
    self.detail = detail
    self.lostOperations = lostOperations
    self.keys = keys
    self.remedy = remedy
  }

  /// For a report whose reader has already done what there is to do.
  var withoutRemedy: Finding {
    var finding = self
    finding.remedy = ""
    return finding
  }
}

extension Finding: CustomStringConvertible {
  /// One line for a log; `PAGE` stands for the page's path.
  public var description: String {
    var text = "\(severity): \(kind.rawValue) in \(file)"
    if let range { text += " at bytes \(range.lowerBound) to \(range.upperBound)" }
    if let lsns { text += ", LSN \(lsns.lowerBound) to \(lsns.upperBound)" }
    text += ": " + detail
    if let lostOperations { text += "; at most \(lostOperations) operations lost" }
    if !remedy.isEmpty { text += "; next: " + remedy }
    return text
  }
}
