import LogStoreTesting

/// Where a workload was interrupted and what was left, as a state's identity says it: `kill.5`, `strict.5.b17`.
struct CrashPoint: Equatable, LosslessStringConvertible {
  let description: String
  let moment: Int
  /// Nil where the process was killed, and the cache is still there.
  let profile: CrashProfile?

  var kind: CrashKind { CrashKind(profile) }

  init(_ state: CrashState) {
    description = state.identity
    moment = state.moment
    profile = state.profile
  }

  init?(_ text: String) {
    let parts = text.split(separator: ".").map(String.init)
    guard parts.count > 1, let moment = Int(parts[1]) else { return nil }
    profile = CrashProfile(rawValue: parts[0])
    guard profile != nil || parts[0] == "kill" else { return nil }
    self.moment = moment
    description = text
  }
}
