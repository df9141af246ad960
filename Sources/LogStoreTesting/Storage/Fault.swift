public import LogStore

/// A call that is to fail, and how.
///
/// ```swift
/// storage.fail(Fault(.write, .error(EIO), after: 2, repeating: true))        // the third write, and all from then on
/// storage.fail(Fault(.sync, .failedSync(cache: .old)) { $0.hasSuffix(".journal") })
/// ```
public struct Fault: Sendable {
  /// What the cache shows after a failed sync; the medium keeps the old bytes or names either way.
  public enum Cache: Sendable, CaseIterable { case new, old }

  public enum Effect: Sendable {
    /// The call does nothing.
    case error(Int32)
    /// A read or write handles only so many bytes, and says so.
    case short(Int)
    /// A write fails although so many bytes of it have been written.
    case partThenError(Int, Int32)
    /// A sync of a file or a directory, or a file's being written out: the bytes, or the changes of names, never reach
    /// the medium, and the next sync succeeds without them.
    case failedSync(errno: Int32 = 5, cache: Cache)

    var errno: Int32 {
      switch self {
      case .error(let errno), .partThenError(_, let errno), .failedSync(let errno, _): errno
      case .short: 5
      }
    }
  }

  public var effect: Effect
  /// The kinds of call that are counted and fail; nil: every kind.
  public var operations: Set<StorageError.Operation>?
  /// Calls that still pass.
  public var after: Int
  /// Whether all calls from then on fail, not only one.
  public var repeating: Bool
  /// Restricts the fault to names (last components) for which this is true.
  public var concerns: (@Sendable (String) -> Bool)?
  private var isSpent = false

  public init(
    _ operations: Set<StorageError.Operation>?, _ effect: Effect, after: Int = 0, repeating: Bool = false,
    concerns: (@Sendable (String) -> Bool)? = nil
  ) {
    self.operations = operations
    self.effect = effect
    self.after = after
    self.repeating = repeating
    self.concerns = concerns
  }

  public init(
    _ operation: StorageError.Operation, _ effect: Effect, after: Int = 0, repeating: Bool = false,
    concerns: (@Sendable (String) -> Bool)? = nil
  ) {
    self.init([operation], effect, after: after, repeating: repeating, concerns: concerns)
  }

  /// Counts a call; whether it is one that fails.
  mutating func fires(at call: Call) -> Bool {
    guard !isSpent, operations?.contains(call.operation) ?? true, concerns?(call.name) ?? true else { return false }
    guard after == 0 else {
      after -= 1
      return false
    }
    if !repeating { isSpent = true }
    return true
  }
}
