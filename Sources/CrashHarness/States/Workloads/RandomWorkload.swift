import LogStore
import LogStoreTesting

/// Long workloads that a seed decides.
enum RandomWorkload {
  static func workload(_ seed: UInt64) -> Workload {
    var random = SeededRandom(seed: seed)
    let pages = random.next() % 4 == 0 ? 2 : 1
    let base = Workload.Base.allCases.randomElement(using: &random) ?? .absent
    let script = Script(seed: random.next(), steps: Int.random(in: 4...12, using: &random))
    let steps = script.steps.flatMap { step in
      RandomWorkload.steps(step, &random).map { Workload.Placed(Int(random.next() % UInt64(pages)), $0) }
    }
    return Workload(base: base, pages: pages, steps: steps, seed: seed)
  }

  /// A script's step, and at times the disk's failure in it.
  private static func steps(_ step: Script.Step, _ random: inout SeededRandom) -> [Step] {
    switch step {
    case .write(let operations, let durability):
      switch random.next() % 12 {
      case 0: [.full(fits: Int.random(in: 0...60, using: &random), operations)]
      case 1: [.failedSync(showsOld: Bool.random(using: &random), operations)]
      default: [.write(operations, durability)]
      }
    case .sync: [.sync]
    case .compact(let keep): [.compact(keep)]
    case .suspend: [.suspend]
    case .resume: [.resume]
    case .reopen:
      [random.next() % 3 == 0 ? .failedClose(showsOld: Bool.random(using: &random)) : .reopen]
    case .kill: [.kill]
    case .close: [.close]
    case .wait(let seconds): [.wait(seconds)]
    case .recover, .view: []
    }
  }
}
