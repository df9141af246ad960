/// What a ``CrashExplorer`` has seen.
public struct CrashReport: Sendable, CustomStringConvertible {
  /// A crash after which the check did not hold.
  public struct Failure: Error, CustomStringConvertible {
    /// Names the state; ``CrashExplorer/replay(_:)`` makes it again.
    public var identity: String
    /// What the check, or the workload that runs after a crash, has thrown.
    public var error: any Error

    public var description: String { "after crash \(identity): \(error)" }
  }

  /// Checks that were run.
  public var states = 0
  /// States among them that no other was like.
  public var distinct = 0
  /// The first failure, where the exploration ended; nil if there was none.
  public var failure: Failure?

  public var description: String {
    failure?.description ?? "\(states) states, \(distinct) of them distinct; the check held"
  }
}
