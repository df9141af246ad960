import LogStoreTesting

/// How thoroughly a workload's crashes are examined.
struct Effort: Sendable {
  var profiles = CrashProfile.allCases
  /// What is enumerated at each moment under each profile.
  var extent: CrashExtent
  /// Never more than so many states of a moment and profile, spread over all.
  var limit = Int.max
  /// One in so many states, chosen by hash, are examined in full, and so is the first of each moment where it is a new one.
  var fullShare: UInt64 = 8
  /// Of the others, every second is opened only for reading: that is another way through recovery, and costs half.
  var looksAtHalf = false
  /// What is done to the crashed disk, and crashed again.
  var nested: Nested?

  struct Nested: Sendable {
    /// So many of the states of each moment and profile that are examined are gone on with: any, as their hashes fall, that
    /// nobody has gone on with before.
    var starts: Int
    /// States of each moment of what is done then.
    var limit: Int
    var profiles: [CrashProfile] = [.strict]
    /// Of the states of the second level, one in so many is gone on with once more; 0: none.
    var deeper: UInt64
  }
}
