/// How much of what a crash may leave is enumerated.
public struct CrashExtent: Sendable, Hashable {
  /// Where the choices over all unsynced effects, multiplied, are at most this many, all of them are made; at the finest
  /// grain of torn writes at which that is so.
  public var exhaustive: Int
  /// Where no grain of torn writes, or not the finest, is enumerated: so many states more, drawn at random. Where not even
  /// the choices of whole effects fit, also every prefix of the effects, and all but any one or two of them.
  public var samples: Int
  /// Decides what is drawn.
  public var seed: UInt64

  public init(exhaustive: Int = 1 << 14, samples: Int = 256, seed: UInt64 = 1) {
    self.exhaustive = exhaustive
    self.samples = samples
    self.seed = seed
  }
}
