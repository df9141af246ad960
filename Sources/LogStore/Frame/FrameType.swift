/// The type byte of a frame: its kind in the low six bits, and its place in its batch in the high two.
struct FrameType: Equatable, Sendable {
  var rawValue: UInt8

  init(rawValue: UInt8) { self.rawValue = rawValue }

  init(_ kind: FrameKind, first: Bool = true, last: Bool = true) {
    rawValue = kind.rawValue | (first ? FrameType.firstBit : 0) | (last ? FrameType.lastBit : 0)
  }

  /// A record of a snapshot in one frame.
  static var wholeRecord: FrameType { FrameType(.record) }

  static let lastBit: UInt8 = 0x80
  static let firstBit: UInt8 = 0x40

  var kind: FrameKind { FrameKind(rawValue: rawValue & 0x3F) }
  var isFirst: Bool { rawValue & FrameType.firstBit != 0 }
  var isLast: Bool { rawValue & FrameType.lastBit != 0 }
}

/// What a frame means. Kinds 1 to 31 are the engine's, 32 to 63 the application's; 0 is never valid.
public struct FrameKind: RawRepresentable, Hashable, Sendable {
  public var rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Put a record: replace its value in place, or insert it at the end.
  public static let put = FrameKind(rawValue: 1)
  /// Put a record before another one.
  public static let putBefore = FrameKind(rawValue: 2)
  public static let remove = FrameKind(rawValue: 3)
  public static let move = FrameKind(rawValue: 4)
  public static let clear = FrameKind(rawValue: 5)
  /// The beginning of a value too long for one frame; the next put of the batch ends it.
  public static let part = FrameKind(rawValue: 6)
  /// The engine's note of what was durable when it was written.
  public static let mark = FrameKind(rawValue: 8)
  /// The engine's note of what an earlier recovery dropped for good.
  public static let loss = FrameKind(rawValue: 9)
  /// A record of a snapshot.
  public static let record = FrameKind(rawValue: 16)
  /// Several records of a snapshot, deflated together.
  public static let block = FrameKind(rawValue: 17)
  /// A piece of a snapshot's order table.
  public static let order = FrameKind(rawValue: 18)
  /// A piece of a snapshot's key table.
  public static let keys = FrameKind(rawValue: 19)
  /// The last frame of a snapshot.
  public static let footer = FrameKind(rawValue: 20)

  /// Whether the kind belongs to the application.
  public var isApplication: Bool { rawValue >= 32 && rawValue <= 63 }

  /// Whether a frame of this kind counts as one operation (and so takes one LSN).
  public var isOperation: Bool { (rawValue >= 1 && rawValue <= 5) || isApplication }

  /// Whether this version of the engine knows the kind in a journal.
  var isKnownInJournal: Bool { isOperation || self == .part || self == .mark || self == .loss }
}

extension FrameKind: CustomStringConvertible {
  public var description: String {
    switch self {
    case .put: "put"
    case .putBefore: "put-before"
    case .remove: "remove"
    case .move: "move"
    case .clear: "clear"
    case .part: "part"
    case .mark: "mark"
    case .loss: "loss"
    case .record: "record"
    case .block: "block"
    case .order: "order"
    case .keys: "keys"
    case .footer: "footer"
    default: isApplication ? "application-\(rawValue)" : "unknown-\(rawValue)"
    }
  }
}
