/// What went wrong, where, and what to do about it.
///
/// The one public error type. Match on ``code``; show ``message``, which names the remedy and never a record's value.
public struct LogStoreError: Error, Sendable {
  public var code: Code
  /// One sentence for a person, with the remedy.
  public var message: String
  /// The file or directory concerned.
  public var path: String?
  /// Where in the file, in bytes.
  public var offset: UInt64?
  /// The log sequence number concerned.
  public var lsn: UInt64?
  /// The system's error number.
  public var errno: Int32?
  /// The error behind this one.
  public var cause: (any Error)?

  public init(
    _ code: Code, _ message: String, path: String? = nil, offset: UInt64? = nil, lsn: UInt64? = nil,
    errno: Int32? = nil, cause: (any Error)? = nil
  ) {
    self.code = code
    self.message = message
    self.path = path
    self.offset = offset
    self.lsn = lsn
    self.errno = errno
    self.cause = cause
  }

  /// The kind of an error. New kinds may come in later versions, so a `switch` needs a `default`.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    private enum Value: String {
      case notFound, cannotCreate, foreignFile, newerVersion, damaged, noBase, locked, unavailable, io, noSpace
      case outcomeUnknown, conflict, historyChanged, storeReplaced, closed, suspended, invalidKey, tooLarge, cancelled
      case unsupported, readOnly, nestedPage, notKept, wrongState, busy
    }
    private var value: Value
    private init(_ value: Value) { self.value = value }
    public var description: String { value.rawValue }

    /// There is no page at the path.
    public static let notFound = Code(.notFound)
    /// The page, or a file of it, cannot be created.
    public static let cannotCreate = Code(.cannotCreate)
    /// A file with a page's name was written by another program, or a directory stands in its place.
    public static let foreignFile = Code(.foreignFile)
    /// The page was written by a newer version of LogStore.
    public static let newerVersion = Code(.newerVersion)
    /// Bytes do not match their checksum, and the policy or the place allows no way around them.
    public static let damaged = Code(.damaged)
    /// No snapshot and no first journal is left to start from.
    public static let noBase = Code(.noBase)
    /// Another writer holds the page.
    public static let locked = Code(.locked)
    /// The system refuses access for now (permissions, a locked device). Retry later; nothing is known to be damaged.
    public static let unavailable = Code(.unavailable)
    /// The system reported an error on reading or writing.
    public static let io = Code(.io)
    /// No space, quota or file-size allowance is left. What was refused was not written.
    public static let noSpace = Code(.noSpace)
    /// A write or sync failed in a way that leaves open whether the data is durable. Call `recover()`.
    public static let outcomeUnknown = Code(.outcomeUnknown)
    /// The page is not at the expected position.
    public static let conflict = Code(.conflict)
    /// The position is not on the page's history: a crash or a restore has replaced what followed.
    public static let historyChanged = Code(.historyChanged)
    /// The page's files were replaced or removed under the running engine.
    public static let storeReplaced = Code(.storeReplaced)
    public static let closed = Code(.closed)
    public static let suspended = Code(.suspended)
    /// A key is empty or longer than ``Limits/keyBytes``.
    public static let invalidKey = Code(.invalidKey)
    /// A value or batch is over its limit. Nothing was written.
    public static let tooLarge = Code(.tooLarge)
    public static let cancelled = Code(.cancelled)
    /// The file system cannot give what was asked for (durability, locks).
    public static let unsupported = Code(.unsupported)
    public static let readOnly = Code(.readOnly)
    /// The path lies inside another page's directory.
    public static let nestedPage = Code(.nestedPage)
    /// The state asked for is older than what is kept, or newer than what there is.
    public static let notKept = Code(.notKept)
    /// The page holds another kind of state than the one it was opened with.
    public static let wrongState = Code(.wrongState)
    /// A compaction is already running.
    public static let busy = Code(.busy)
  }
}

extension LogStoreError: CustomStringConvertible {
  public var description: String {
    var text = "\(code): \(message)"
    if let path { text += " [\(path)" + (offset.map { " at byte \($0)" } ?? "") + "]" }
    if let errno { text += " (errno \(errno))" }
    if let cause { text += "; caused by \(cause)" }
    return text
  }
}
