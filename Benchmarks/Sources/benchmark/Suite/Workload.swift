/// One way of doing a workload's work.
struct Contestant {
  let name: String
  /// Does the work once and returns the nanoseconds that count.
  let run: () throws -> UInt64
  var finish: () throws -> Void = {}

  static let bare = "bare"
}

/// A limit on LogStore's time over another contestant's.
struct Target {
  let against: String
  let limit: Double
  /// Whether the limit itself is still good.
  var isInclusive = true

  func isMet(_ ratio: Double) -> Bool { isInclusive ? ratio <= limit : ratio < limit }
  static func faster(than name: String) -> Target { Target(against: name, limit: 1, isInclusive: false) }
}

/// Some work that every contestant does, in turns.
struct Workload {
  let name: String
  let title: String
  /// By how much a round's time is divided; 1 for work that counts as a whole.
  let operations: Int
  var targets: [Target] = []
  /// Rounds for each one asked for: short rounds are repeated more often.
  var repetition = 1
  let prepare: (Scratch) throws -> [Contestant]
}

/// How large the work is, and which stores do it.
struct Scale {
  var isQuick = false
  var stores: [any Store.Type]

  func callAsFunction(_ full: Int, quick: Int) -> Int { isQuick ? quick : full }
}
