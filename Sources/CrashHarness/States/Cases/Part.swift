import LogStoreTesting

/// One kind of work of the tier, as numbered jobs.
struct Part: Sendable {
  enum Work {
    /// A workload, and the step whose crashes are examined; those of earlier steps belong to another job.
    case workload(Workload, last: Int)
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
  /// How many of them CI does, spread over all.
  var sample: Int
  var effort: Effort
  var work: @Sendable (_ number: Int, _ seed: UInt64) -> Work

  static let all = [sequences, pairs, ownState, random, nested, interleaved]

  /// Every sequence of up to three steps on one page.
  static let sequences = Part(
    name: "sequences", share: 3, count: sequenceCount(pages: 1, bases: Workload.Base.allCases), sample: 800,
    effort: Effort(extent: CrashExtent(exhaustive: 1 << 10, samples: 64))
  ) { number, _ in sequence(number, pages: 1, bases: Workload.Base.allCases) }

  /// The same on two pages.
  static let pairs = Part(
    name: "two pages", row: "t0 two pages", share: 2, count: sequenceCount(pages: 2, bases: twoBases), sample: 400,
    effort: Effort(extent: CrashExtent(exhaustive: 256, samples: 32))
  ) { number, _ in sequence(number, pages: 2, bases: twoBases) }

  /// Sequences on a page with an application's own state.
  static let ownState = Part(
    name: "own state", row: "t0 own state", share: 1, count: sequenceCount(pages: 1, bases: twoBases), sample: 100,
    effort: Effort(extent: CrashExtent(exhaustive: 256, samples: 32))
  ) { number, _ in sequence(number, pages: 1, bases: twoBases, kind: .state) }

  /// Long ones that a seed decides.
  static let random = Part(
    name: "random", share: 2, sample: 20, effort: Effort(extent: CrashExtent(exhaustive: 256, samples: 64))
  ) { number, seed in .workload(RandomWorkload.workload(seed &* 1_000_003 &+ UInt64(number)), last: .max) }

  /// Crashes in what is done after a crash: the short sequences first, then long ones.
  static let nested = Part(
    name: "nested", row: "t0 nested", share: 2, sample: 60,
    effort: Effort(
      extent: CrashExtent(exhaustive: 64, samples: 16), limit: 12, nested: .init(starts: 4, limit: 8, deeper: 64))
  ) { number, seed in
    let short = sequenceCount(pages: 1, bases: twoBases)
    guard number >= short else { return sequence(spread(number, over: short), pages: 1, bases: twoBases) }
    return .workload(RandomWorkload.workload(seed &* 7_000_003 &+ UInt64(number)), last: .max)
  }

  /// Threads on one page.
  static let interleaved = Part(
    name: "interleaved", row: PlayExplorer.row, share: 2, sample: 60, effort: Effort(extent: CrashExtent())
  ) { number, seed in
    let play = Play(seed: seed &* 9_000_011 &+ UInt64(number / 4))
    return .play(play, schedule: UInt64(number))
  }

  // MARK: Sequences

  private static let twoBases: [Workload.Base] = [.compacted, .absent]

  private static func sequenceCount(pages: Int, bases: [Workload.Base]) -> Int {
    (0...3).reduce(0) { $0 + Sequences.count(length: $1, pages: pages) } * bases.count
  }

  private static func sequence(
    _ number: Int, pages: Int, bases: [Workload.Base], kind: Workload.Kind = .records
  ) -> Work {
    let base = bases[number % bases.count]
    var number = number / bases.count
    var length = 0
    while number >= Sequences.count(length: length, pages: pages) {
      number -= Sequences.count(length: length, pages: pages)
      length += 1
    }
    let (head, last) = Sequences.sequence(number, length: length, pages: pages)
    let workload = Workload(base: base, kind: kind, pages: pages, steps: head + last)
    return .workload(workload, last: length > 0 ? head.count : .max)
  }

  /// A permutation of the numbers below `count` that goes through all of them in big steps.
  static func spread(_ number: Int, over count: Int) -> Int {
    var step = max(1, count * 618 / 1000)
    while gcd(step, count) != 1 { step += 1 }
    return number * step % count
  }

  private static func gcd(_ left: Int, _ right: Int) -> Int { right == 0 ? left : gcd(right, left % right) }
}
