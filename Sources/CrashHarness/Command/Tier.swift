import Synchronization

/// One way of breaking pages, with the check of what is left.
protocol Tier {
  /// What the command line calls it.
  static var name: String { get }
  /// What it does, in a line of the help.
  static var summary: String { get }
  /// Its part of the time, beside those of the other tiers.
  static var share: Double { get }

  init()

  /// Works until the plan says that it is enough, and notes what it has seen.
  func run(_ plan: Plan, _ tally: Tally) throws

  /// Runs one case again, the one that a violation's `replay` names (without the tier's name); nil if it holds now.
  func replay(_ text: String) throws -> Violation?
}

/// How much a tier is to do.
struct Plan: Sendable {
  enum Extent: Sendable {
    /// What CI runs: a fixed amount from a fixed seed, which says the same on every machine.
    case ci
    /// Until so many seconds have gone by.
    case seconds(Double)
  }

  var extent: Extent
  var seed: UInt64
  /// How many threads may work at once.
  var workers: Int
  private let start: ContinuousClock.Instant

  init(_ extent: Extent, seed: UInt64, workers: Int, since start: ContinuousClock.Instant = .now) {
    self.extent = extent
    self.seed = seed
    self.workers = workers
    self.start = start
  }

  var isCI: Bool { if case .ci = extent { true } else { false } }

  /// Set where one violation is all that was asked for: whatever is at work then ends as if the time were up.
  static let isEnoughFound = Atomic<Bool>(false)

  /// Whether the time is up; never in CI, where the amount counts.
  var isOver: Bool {
    if Plan.isEnoughFound.load(ordering: .relaxed) { return true }
    guard case .seconds(let seconds) = extent else { return false }
    return ContinuousClock.now - start >= .seconds(seconds)
  }

  /// The same plan for a part that begins now: it has its share of what is left of the time, and so of what the parts before
  /// it did not need.
  func part(_ share: Double) -> Plan {
    guard case .seconds(let seconds) = extent else { return Plan(.ci, seed: seed, workers: workers) }
    let left = max(0, seconds - (ContinuousClock.now - start) / .seconds(1))
    return Plan(.seconds(left * share), seed: seed, workers: workers)
  }
}

/// Something that must hold and did not.
struct Violation: Sendable, Hashable {
  /// What is wrong, in a line.
  var what: String
  /// What `crash replay` takes to show it again in seconds: the tier's name, a colon, and the case. Nil where no one case
  /// shows it.
  let replay: String?

  init(what: String, in subject: some Replayable) {
    self.what = what
    replay = "\(type(of: subject).tier.name):\(subject)"
  }

  /// Something that only many cases together show.
  init(what: String) {
    self.what = what
    replay = nil
  }
}

/// A case of a tier: the text that describes it makes it again, and the tier's `replay` takes it.
protocol Replayable: LosslessStringConvertible {
  static var tier: any Tier.Type { get }
}
