import LogStoreTesting

/// Makes a play that does not hold simpler: fewer threads, actions, operations.
struct PlayShrinker {
  /// Ways to go that are tried for each simpler play.
  var schedules: UInt64 = 60
  var seconds = 10.0
  var check: @Sendable (Workload.Kind) -> StateCheck = { StateCheck(kind: $0) }

  func shrink(_ failure: PlayFailure) -> PlayFailure {
    let deadline = ContinuousClock.now + .seconds(seconds)
    var best = failure
    var improved = true
    while improved {
      improved = false
      for candidate in PlayShrinker.simpler(best.subject.play) {
        for schedule in 0..<schedules where !improved {
          guard ContinuousClock.now < deadline else { return best }
          var explorer = PlayExplorer(seen: nil, check: check)
          guard let found = explorer.explore(candidate, schedule: schedule) else { continue }
          best = found
          improved = true
        }
        if improved { break }
      }
    }
    return best
  }

  private static func simpler(_ play: Play) -> [Play] {
    var found: [Play] = []
    for place in play.parts.indices {
      var other = play
      other.parts.remove(at: place)
      found.append(other)
    }
    if play.base != .absent { found.append(Play(base: .absent, seed: play.seed, parts: play.parts)) }
    for (place, part) in play.parts.enumerated() {
      for index in part.actions.indices where part.actions.count > 1 {
        var other = play
        other.parts[place].actions.remove(at: index)
        found.append(other)
      }
      for (index, action) in part.actions.enumerated() {
        guard case .step(let step) = action, step.operations.count > 1 else { continue }
        for operation in step.operations.indices {
          var fewer = step.operations
          fewer.remove(at: operation)
          var other = play
          other.parts[place].actions[index] = .step(step.writing(fewer))
          found.append(other)
        }
      }
    }
    return found
  }
}
