import LogStoreTesting

/// One kind of work of the tier, as numbered jobs.
struct Part: Sendable {
  enum Work {
    /// A workload, and the step whose crashes are examined; those of earlier steps belong to another job.
    case workload(Workload, last: Int, Effort)
    /// Threads that take turns, as a seed decides.
    case play(Play, schedule: UInt64)
  }

  var name: String
  /// Where its states are counted; nil: by profile.
  var row: String?
  /// Its share of the time.
  var share: Double
  /// How many jobs there are; nil: no end.
  var count: Int?
  /// How many of them CI does.
  var sample: Int
  var work: @Sendable (_ number: Int, _ seed: UInt64) -> Work

  static let all = [sequences, pairs, ownState, longer, random, nested, interleaved]

  /// Every sequence of up to three steps on one page.
  static let sequences = short("sequences", row: nil, share: 4, sample: 7600, pages: 1, Workload.Base.allCases)

  /// The same on two pages.
  static let pairs = short("two pages", row: "t0 two pages", share: 1.5, sample: 700, pages: 2, twoBases)

  /// The same on a page with an application's own state.
  static let ownState = short(
    "own state", row: "t0 own state", share: 1, sample: 300, pages: 1, twoBases, kind: .state)

  /// Every sequence of four steps on one page, as far as the time goes: those of up to three come to an end before. They
  /// make the most different states a second, since of thousands that differ little few are examined in full.
  static let longer = {
    let sequences = ShortSequences(pages: 1, bases: Workload.Base.allCases, lengths: 4...4)
    let (all, order) = (sequences.count, Spread(over: sequences.count))
    return Part(name: "four steps", share: 20, count: all, sample: 6) { number, _ in
      let (workload, last) = sequences.workload(order[number])
      return .workload(workload, last: last, Effort(extent: CrashExtent(), fullShare: 256, looksAtHalf: true))
    }
  }()

  /// Long ones that a seed decides: the first thousand in depth, then in breadth.
  static let random = Part(name: "random", share: 0.7, sample: 60) { number, seed in
    let effort = Effort(extent: CrashExtent(exhaustive: 256, samples: 64), fullShare: number < 1000 ? 8 : 32)
    return .workload(RandomWorkload.workload(seed &* 1_000_003 &+ UInt64(number)), last: .max, effort)
  }

  /// Crashes in what is done after a crash: the short sequences first, then long ones.
  static let nested = Part(name: "nested", row: "t0 nested", share: 1, sample: 60) { number, seed in
    let effort = Effort(
      extent: CrashExtent(exhaustive: 64, samples: 16), limit: 12, nested: .init(starts: 4, limit: 8, deeper: 64))
    let sequences = ShortSequences(pages: 1, bases: twoBases)
    guard number >= sequences.count else {
      let (workload, last) = sequences.workload(Spread(over: sequences.count)[number])
      return .workload(workload, last: last, effort)
    }
    return .workload(RandomWorkload.workload(seed &* 7_000_003 &+ UInt64(number)), last: .max, effort)
  }

  /// Threads on one page: each play in several ways.
  static let interleaved = Part(name: "interleaved", row: PlayExplorer.row, share: 1, sample: 100) { number, seed in
    .play(Play(seed: seed &* 9_000_011 &+ UInt64(number / 4)), schedule: UInt64(number))
  }

  private static let twoBases: [Workload.Base] = [.compacted, .absent]

  /// Short sequences: all of them with few states each, and then all of them with as many as there are.
  private static func short(
    _ name: String, row: String?, share: Double, sample: Int, pages: Int, _ bases: [Workload.Base],
    kind: Workload.Kind = .records
  ) -> Part {
    let sequences = ShortSequences(pages: pages, bases: bases, kind: kind)
    let (all, order) = (sequences.count, Spread(over: sequences.count))
    return Part(name: name, row: row, share: share, count: 2 * all, sample: sample) { number, _ in
      let (workload, last) = sequences.workload(order[number % all])
      // Thousands of states a moment differ little: one in fewer of them is enough in full.
      let effort =
        number < all
        ? Effort(extent: CrashExtent(exhaustive: 512, samples: 64)) : Effort(extent: CrashExtent(), fullShare: 32)
      return .workload(workload, last: last, effort)
    }
  }
}
