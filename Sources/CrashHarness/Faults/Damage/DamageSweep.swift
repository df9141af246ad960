import Dispatch
import LogStore
import LogStoreTesting
import Synchronization

/// Damages the pages of a corpus in one way after the other, and examines each.
final class DamageSweep: Sendable {
  /// What to do: cases that one worker takes at once.
  struct Portion: Sendable {
    var page: Int
    var cases: @Sendable (Int) -> DamageCase
    var count: Int
  }

  let corpus: Corpus
  let seed: UInt64
  let part: String
  private let tally: Tally
  /// Of so many cases, what comes after the opening of one is examined too: of which, the seed decides.
  private let aftermathEvery: Int
  private let next = Atomic(0)
  /// Two wrong sectors may be the same bytes.
  private let seen = DistinctStates()
  private let verdicts = Mutex([Int](repeating: 0, count: DamageExaminer.Verdict.allCases.count))
  private let aftermaths = Atomic(0)

  init(_ part: String, _ corpus: Corpus, seed: UInt64, aftermathEvery: Int, _ tally: Tally) {
    self.part = part
    self.corpus = corpus
    self.seed = seed
    self.aftermathEvery = aftermathEvery
    self.tally = tally
  }

  /// How many openings had which outcome.
  var outcomes: [DamageExaminer.Verdict: Int] {
    let counts = verdicts.withLock { $0 }
    return Dictionary(uniqueKeysWithValues: DamageExaminer.Verdict.allCases.map { ($0, counts[$0.rawValue]) })
  }

  /// Of how many cases it was examined what comes after the opening.
  var goneOnWith: Int { aftermaths.load(ordering: .relaxed) }

  /// The first of a portion's cases whose aftermath is examined: another for each portion and seed.
  static func firstAftermath(_ portion: Int, seed: UInt64, every: Int) -> Int {
    var random = SeededRandom(seed: seed &* 1_000_003 &+ UInt64(portion))
    return Int(random.next() % UInt64(every))
  }

  func run(_ portions: [Portion], _ plan: Plan) {
    DispatchQueue.concurrentPerform(iterations: plan.workers) { _ in
      var storages: [Int: FrozenStorage] = [:]
      while !plan.isOver {
        let number = next.add(1, ordering: .relaxed).oldValue
        guard number < portions.count else { return }
        let first = DamageSweep.firstAftermath(number, seed: seed, every: aftermathEvery)
        work(portions[number], firstAftermath: first, &storages, plan)
      }
    }
  }

  private func work(
    _ portion: Portion, firstAftermath: Int, _ storages: inout [Int: FrozenStorage], _ plan: Plan
  ) {
    let start = ContinuousClock.now
    let page = corpus.pages[portion.page]
    var counts = [Int](repeating: 0, count: DamageExaminer.Verdict.allCases.count)
    var (done, distinct, goneOn) = (0, 0, 0)
    do {
      let storage = try storages[portion.page] ?? FrozenStorage(page)
      storages[portion.page] = storage
      for number in 0..<portion.count {
        let one = portion.cases(number)
        guard let damage = one.damage(page) else { continue }
        done += 1
        if seen.insert(damage.print(page, portion.page)) { distinct += 1 }
        let examination = DamageExamination(page, damage, storage)
        let goesOn = number % aftermathEvery == firstAftermath
        if goesOn { goneOn += 1 }
        let problem = examination.run(&counts, withAftermath: goesOn)
        if let problem { tally.violation(Violation(what: problem, in: one), in: part) }
      }
    } catch {
      tally.violation(Violation(what: "\(error)", in: portion.cases(0)), in: part)
    }
    tally.add(part, states: done, distinct: distinct, work: .init(since: start, of: plan.workers))
    aftermaths.add(goneOn, ordering: .relaxed)
    verdicts.withLock { total in for (index, count) in counts.enumerated() { total[index] += count } }
  }
}

/// One damage under all three policies, what verifying says of it, and what comes after it under those that go around it.
struct DamageExamination {
  private let page: CorpusPage
  private let damage: Damage
  private let storage: FrozenStorage

  init(_ page: CorpusPage, _ damage: Damage, _ storage: FrozenStorage) {
    self.page = page
    self.damage = damage
    self.storage = storage
  }

  /// What is wrong; nil if nothing is.
  func run(_ counts: inout [Int], withAftermath: Bool) -> String? {
    damage.apply(to: storage)
    defer { damage.undo(in: storage, page.files) }
    let examiner = DamageExaminer(page, damage)
    // Keys are asked for one by one only where some cannot be read.
    let keys = examiner.reach.hitsBaseBody || examiner.reach.hitsBaseEnds ? page.keys : []
    let aftermath = DamageAftermath(page: page, damage: damage, reach: examiner.reach)
    var sights: [(Sight, RecoveryPolicy)] = []
    for policy in [RecoveryPolicy.salvage, .strict, .pointInTime] {
      // The policy decides what opening takes in; how the base's records are then read is the same under each. So every
      // way of reading is tried under one, and under the others only that in page order.
      let sight = Sight(
        of: storage, isApplication: page.isApplication, policy: policy, isThorough: policy == .salvage, keys: keys)
      switch examiner.judge(sight, policy) {
      case .fine(let verdict): counts[verdict.rawValue] += 1
      case .wrong(let what): return "under \(policy): \(what)"
      }
      if policy == .salvage, let problem = aftermath.verify(sight, on: storage) { return "verifying: \(problem)" }
      // Where strict goes on at all, it does as the others do.
      if policy != .strict { sights.append((sight, policy)) }
    }
    guard withAftermath else { return nil }
    for (sight, policy) in sights {
      if let problem = aftermath.examine(sight, policy) { return "going on under \(policy): \(problem)" }
    }
    return nil
  }
}
