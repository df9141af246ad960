public import LogStore
internal import Synchronization

/// What a workload was told, or has told its users, and when.
///
/// A token says what must be there after a crash: the key and value that were written, the number of a message. It is
/// tied to the calls that the storage had seen when it was given.
public final class Acknowledgements<Token: Sendable>: Sendable {
  private struct Entry {
    var token: Token
    var level: Durability
    var calls: Int
  }

  private let storage: SimulatedStorage
  private let entries = Mutex<[Entry]>([])

  init(_ storage: SimulatedStorage) { self.storage = storage }

  /// Notes that something must be there from now on.
  ///
  /// - Parameters:
  ///   - token: what the check is told of it.
  ///   - level: what it is said to survive: the process alone, or also a power cut.
  public func acknowledge(_ token: Token, survives level: Durability = .power) {
    let calls = storage.callCount
    entries.withLock { $0.append(Entry(token: token, level: level, calls: calls)) }
  }

  /// What was given before a call began, and survives such a crash. A nil profile is a kill.
  func given(before call: Int, surviving profile: CrashProfile?) -> [Token] {
    entries.withLock { entries in
      entries.filter { $0.calls < call && CrashProfile.survives($0.level, profile) }.map(\.token)
    }
  }

  /// Takes over what was given before a crash and survives it, at the level at which it was given.
  func inherit(_ earlier: Acknowledgements, before call: Int, surviving profile: CrashProfile?) {
    let inherited = earlier.entries.withLock { entries in
      entries.filter { $0.calls < call && CrashProfile.survives($0.level, profile) }
    }
    entries.withLock { own in
      own += inherited.map { Entry(token: $0.token, level: $0.level, calls: -1) }
    }
  }
}

extension CrashProfile {
  /// Whether what was acknowledged at a level is there after a crash; a nil profile is a kill.
  static func survives(_ level: Durability, _ profile: CrashProfile?) -> Bool {
    guard let profile else { return true }
    return level == .power || level == .ordered && profile.orderedSyncsAreDurable
  }
}
