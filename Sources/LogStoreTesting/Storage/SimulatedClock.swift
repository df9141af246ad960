/// Clocks that stand still until somebody moves them.
public struct SimulatedClock: Sendable, Hashable {
  /// Nanoseconds since 1970; may go back.
  public var wall: Int64 = 1_700_000_000_000_000_000
  /// Nanoseconds on the clock that only goes forward.
  public var monotonic: Int64 = 1_000_000_000

  public init() {}

  /// Moves both clocks.
  public mutating func advance(by duration: Duration) {
    let (seconds, attoseconds) = duration.components
    let nanoseconds = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    wall += nanoseconds
    monotonic += nanoseconds
  }
}
