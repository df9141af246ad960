internal import LogStore

/// What one crash leaves on disk.
public struct CrashState: Sendable {
  /// Tells states of one recording apart: of all names, and of the bytes of all files that have one. Two states with the
  /// same hash show the same to whoever opens them. Where the process was killed, also of what is not yet durable: two
  /// such states with the same hash leave the same, but for garbage, when the power goes next.
  public let hash: UInt64
  /// The moment of the recording at which the crash came.
  public let moment: Int
  /// What the disk may do; nil where the power stayed, and only the process was killed.
  public let profile: CrashProfile?
  let choice: Choice
  private let disk: Disk
  private let clock: SimulatedClock
  private let files: [(number: UInt64, bytes: [UInt8])]

  /// How the state was chosen, which is all it takes to make it again.
  enum Choice {
    case kill
    case exhaustive(Grain, Int)
    case systematic(Int)
    case random(Int, UInt64)
  }

  init(_ window: CrashWindow, _ names: NamesOutcome, _ outcomes: [FileOutcome], _ choice: Choice) {
    var hash = names.hash
    for outcome in outcomes { hash &+= outcome.hash }
    self.hash = ContentHash.mix(hash, 0)
    moment = window.moment
    profile = window.profile
    self.choice = choice
    disk = names.disk
    clock = window.clock
    files = zip(names.unsynced, outcomes).map { (window.files[$0].number, $1.bytes) }
  }

  /// The process ends, and the system goes on: everything that was written is still in the cache, and still not durable.
  init(kill disk: Disk, _ clock: SimulatedClock, moment: Int) {
    self.moment = moment
    profile = nil
    choice = .kill
    self.disk = disk.after(.kill)
    self.clock = clock
    files = []
    hash = disk.cacheHash
  }

  public var isKill: Bool { profile == nil }

  /// The state in a word that names it for good: ``SimulatedStorage/crashState(_:)`` makes it again from the same recording.
  public var identity: String {
    let name = profile?.rawValue ?? "kill"
    return switch choice {
    case .kill: "\(name).\(moment)"
    case .exhaustive(let grain, let number): "\(name).\(moment).\(grain.letter)\(number)"
    case .systematic(let number): "\(name).\(moment).l\(number)"
    case .random(let number, let seed): "\(name).\(moment).r\(number).\(seed)"
    }
  }

  /// A disk in this state, as the next process finds it. It keeps no log of calls.
  ///
  /// It hands out other random bytes than any disk before it, even one that looked the same: a salt that came a second time
  /// would bring back what an earlier process wrote. Handles and files are numbered on from crash to crash.
  public func storage() -> SimulatedStorage {
    let seed = ContentHash.mix(hash, disk.lastNumber)
    return SimulatedStorage(disk: settledDisk, seed: seed, clock: clock, logsCalls: false)
  }

  var settledDisk: Disk {
    var disk = disk
    for (number, bytes) in files { disk.files[number]?.settle(on: bytes) }
    return disk
  }
}
