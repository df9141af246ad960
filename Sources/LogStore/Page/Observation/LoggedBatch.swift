/// A batch as it stands in the log.
public struct LoggedBatch: Sendable, Hashable {
  /// The position behind the batch: where to go on from.
  public var position: Position
  public var operations: [LoggedOperation]

  public init(position: Position, operations: [LoggedOperation]) {
    self.position = position
    self.operations = operations
  }
}

/// An operation as it stands in the log.
public enum LoggedOperation: Sendable, Hashable {
  case put(key: [UInt8], value: [UInt8])
  case putBefore(key: [UInt8], before: [UInt8], value: [UInt8])
  case remove(key: [UInt8])
  /// `before` is nil: to the end.
  case move(key: [UInt8], before: [UInt8]?)
  case clear
  case application(FrameKind, payload: [UInt8])
}

/// Gathers whole batches, values and all, until there is enough for one go.
struct BatchSink: JournalSink {
  let salt: UInt64
  /// Batches up to this LSN were delivered before.
  let after: UInt64
  private(set) var batches: [LoggedBatch] = []
  private var open: [LoggedOperation] = []
  private var parts: [UInt8] = []
  private var bytes = 0

  private static let enough = 1 << 20

  init(salt: UInt64, after: UInt64) {
    self.salt = salt
    self.after = after
  }

  mutating func take(_ frame: JournalFrame) throws(LogStoreError) {
    unsafe bytes += frame.payload.count
    if frame.kind == .part {
      unsafe parts.append(contentsOf: frame.payload)
      return
    }
    let value = unsafe parts + Array(frame.value)
    parts = []
    let (key, before) = unsafe (Array(frame.key), Array(frame.before))
    switch frame.kind {
    case .put: open.append(.put(key: key, value: value))
    case .putBefore: open.append(.putBefore(key: key, before: before, value: value))
    case .remove: open.append(.remove(key: key))
    case .move: open.append(.move(key: key, before: before.isEmpty ? nil : before))
    case .clear: open.append(.clear)
    default: open.append(.application(frame.kind, payload: value))
    }
  }

  mutating func commit(_ batch: ReplayedBatch) throws(LogStoreError) -> Bool {
    if batch.lsn > after {
      batches.append(LoggedBatch(position: Position(salt: salt, lsn: batch.lsn), operations: open))
    } else {
      bytes = 0
    }
    open = []
    return bytes < BatchSink.enough
  }

  mutating func abandon() {
    open = []
    parts = []
  }
}
