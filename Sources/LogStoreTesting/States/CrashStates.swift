internal import LogStore
internal import Synchronization

/// What may be on disk after a power cut at one moment of a recording, under a profile: made one by one, none twice.
///
/// ```swift
/// storage.recordMoments()
/// try work(on: storage)
/// var seen: Set<UInt64> = []
/// for moment in storage.moments.indices {
///   for state in storage.crashStates(at: moment, under: .strict) where seen.insert(state.hash).inserted {
///     try check(state.storage())       // on failure: state.identity
///   }
/// }
/// ```
///
/// Moments between two syncs have most of their states in common. Whoever promises more from moment to moment must take
/// that into account before passing over a state that was seen: it was checked against the promises of its moment.
public struct CrashStates: Sequence {
  /// Whether all choices are made, at some grain of torn writes.
  public var isExhaustive: Bool { exhaustive != nil }
  let window: CrashWindow
  private let exhaustive: ExhaustiveStates?
  private let systematic: SystematicStates?
  private let samples: Int
  private let seed: UInt64
  /// The order in which they are made; nil: as they are numbered, those with the fewest effects first.
  private var order: Spread?

  init(_ window: CrashWindow, _ extent: CrashExtent) {
    self.window = window
    var found: ExhaustiveStates?
    for grain in Grain.allCases.reversed() where found == nil {
      found = ExhaustiveStates(window, grain, limit: extent.exhaustive)
    }
    exhaustive = found
    systematic = found == nil ? SystematicStates(window, limit: 1 << 14) : nil
    samples = found?.grain == .bytes ? 0 : extent.samples
    seed = extent.seed
  }

  /// The states at most: before duplicates are dropped.
  public var upperBound: Int { (exhaustive?.count ?? 0) + (systematic?.count ?? 0) + samples }

  /// The same in an order in which the first few come from everywhere: whole, torn and random, of all sets of names.
  package var spread: CrashStates {
    var other = self
    other.order = Spread(over: upperBound)
    return other
  }

  public func makeIterator() -> Iterator { Iterator(states: self) }

  fileprivate func state(_ number: Int) -> CrashState? {
    let place = order?[number] ?? number
    let all = exhaustive?.count ?? systematic?.count ?? 0
    if place >= all { return window.randomState(place - all, seed: seed) }
    return exhaustive?.state(place, of: window) ?? systematic?.state(place, of: window)
  }

  public struct Iterator: IteratorProtocol {
    fileprivate let states: CrashStates
    private var place = 0
    private var seen: Set<UInt64> = []

    fileprivate init(states: CrashStates) { self.states = states }

    public mutating func next() -> CrashState? {
      let end = states.upperBound
      while place < end {
        defer { place += 1 }
        if let state = states.state(place), seen.insert(state.hash).inserted { return state }
      }
      return nil
    }
  }
}

extension SimulatedStorage {
  /// What a power cut may leave at a recorded moment.
  ///
  /// - Parameters:
  ///   - moment: an index into ``moments``.
  ///   - profile: what the disk may do.
  ///   - extent: up to how many states all are made, and how many random ones otherwise.
  public func crashStates(
    at moment: Int, under profile: CrashProfile = .strict, extent: CrashExtent = CrashExtent()
  ) -> CrashStates { CrashStates(window(at: moment, profile), extent) }

  /// What a kill leaves at a recorded moment: the cache, and of the medium what there was.
  public func killState(at moment: Int) -> CrashState {
    let recorded = recorded(moment)
    return CrashState(kill: recorded.disk, recorded.clock, moment: moment)
  }

  /// The state that has this ``CrashState/identity`` in this recording; nil where there is none.
  public func crashState(_ identity: String) -> CrashState? {
    let parts = identity.split(separator: ".").map(String.init)
    guard parts.count >= 2, let moment = Int(parts[1]), moments.indices.contains(moment) else { return nil }
    if parts[0] == "kill" { return parts.count == 2 ? killState(at: moment) : nil }
    guard let profile = CrashProfile(rawValue: parts[0]), parts.count >= 3, let letter = parts[2].first,
      let number = Int(parts[2].dropFirst())
    else { return nil }
    let window = window(at: moment, profile)
    if let grain = Grain.allCases.first(where: { $0.letter == letter }) {
      // As fine as it was; the number of states was no hindrance then.
      return ExhaustiveStates(window, grain, limit: .max >> 8)?.state(number, of: window)
    }
    switch letter {
    case "l": return SystematicStates(window, limit: 0).state(number, of: window)
    case "r" where parts.count == 4: return UInt64(parts[3]).map { window.randomState(number, seed: $0) }
    default: return nil
    }
  }

  private func window(at moment: Int, _ profile: CrashProfile) -> CrashWindow {
    let recorded = recorded(moment)
    return CrashWindow(recorded.disk, recorded.clock, moment: moment, profile)
  }

  private func recorded(_ moment: Int) -> Simulation.Moment {
    simulation.withLock { state in
      guard let moments = state.moments, moments.indices.contains(moment) else {
        preconditionFailure("no such moment was recorded")
      }
      return moments[moment]
    }
  }
}
