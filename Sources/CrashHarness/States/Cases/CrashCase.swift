/// Something that can be done again: a workload, a crash in it, what was done then, a crash in that, and so on.
struct CrashCase: Equatable, Replayable {
  static var tier: any Tier.Type { StatesTier.self }

  struct Level: Equatable {
    var workload: Workload
    /// Nil on the last level where the workload itself goes wrong, without any crash.
    var point: CrashPoint?
  }

  var levels: [Level]

  init(_ levels: [Level]) { self.levels = levels }

  var description: String {
    levels.map { "\($0.workload)" + ($0.point.map { "|\($0)" } ?? "") }.joined(separator: "|")
  }

  init?(_ text: String) {
    var levels: [Level] = []
    var pieces = text.split(separator: "|", omittingEmptySubsequences: false).map(String.init)[...]
    while let piece = pieces.popFirst() {
      guard let workload = Workload(piece) else { return nil }
      var point: CrashPoint?
      if let next = pieces.popFirst() {
        point = CrashPoint(next)
        if point == nil { return nil }
      }
      levels.append(Level(workload: workload, point: point))
    }
    guard !levels.isEmpty else { return nil }
    self.levels = levels
  }
}
