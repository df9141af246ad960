/// A play as it went, and at most one crash in it: `play absent 3:a sync/c compact none@aac|strict.4.b1`.
struct PlayCase: Replayable {
  static var tier: any Tier.Type { StatesTier.self }

  var play: Play
  /// Whose turn it was, call by call.
  var trace: [Character]
  /// Nil where the play itself goes wrong.
  var point: CrashPoint?

  init(_ run: PlayRun, _ point: CrashPoint? = nil) {
    play = run.play
    trace = run.trace
    self.point = point
  }

  var description: String { "\(play)@\(String(trace))" + (point.map { "|\($0)" } ?? "") }

  init?(_ text: String) {
    let sides = text.split(separator: "|").map(String.init)
    guard let place = sides[0].lastIndex(of: "@"), let play = Play(String(sides[0][..<place])) else { return nil }
    self.play = play
    trace = Array(sides[0][sides[0].index(after: place)...])
    if sides.count > 1 {
      guard let point = CrashPoint(sides[1]) else { return nil }
      self.point = point
    }
  }
}

/// A play that does not hold.
struct PlayFailure {
  var what: String
  var subject: PlayCase
}
