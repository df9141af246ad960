/// How many writers the next group waits for, and for how long.
///
/// Writers that shared a sync are answered together, and most have their next batch ready in a moment. A group that sets off
/// with the first of them leaves the others to the one behind it, and everybody waits for two syncs instead of one. So a
/// group waits until as many have come as there were, but only for a part of what a commit takes; and a writer that is
/// alone never waits for anybody.
struct Gathering {
  /// For so many batches the next group waits; nobody is waited for where it is less than two.
  private(set) var expected = 0
  /// Nanoseconds that it waits at most.
  private(set) var patience: UInt64 = 0
  private var lastDuration: UInt64 = 0

  /// The part of a commit that a group waits at most.
  private let share: Double
  /// Nanoseconds that it waits at most, however slow the medium is.
  private let longest: UInt64
  /// To wait and be woken takes longer than so many nanoseconds.
  private let shortest: UInt64

  init(share: Double = 0.5, longest: UInt64 = 2_000_000, shortest: UInt64 = 20_000) {
    self.share = share
    self.longest = longest
    self.shortest = shortest
  }

  /// Whoever wrote together is waited for, however long a commit took: for where the clock decides nothing.
  static var always: Gathering { Gathering(shortest: 0) }

  /// A group of `count` batches took `duration` nanoseconds, and meanwhile `waiting` others have come.
  mutating func ended(count: Int, waiting: Int, duration: UInt64) {
    // One slow commit says little about the next.
    let typical = min(duration, max(lastDuration, duration / 4))
    lastDuration = duration
    patience = min(UInt64(Double(typical) * share), longest)
    let writers = count + waiting
    expected = writers >= 2 && patience >= shortest ? writers : 0
  }

  /// One of those that were waited for has gone.
  mutating func leave() { expected -= 1 }
}
