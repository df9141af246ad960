/// Every choice over the effects of a window at a grain of torn writes, by number.
struct ExhaustiveStates {
  let grain: Grain
  private var plans: [Plan] = []
  private(set) var count = 0

  /// The choices with one set of names: any content of each file that has one.
  private struct Plan {
    var names: NamesOutcome
    var files: [[FileOutcome]]
    var start: Int
  }

  private static let largestMemory = 64 << 20

  /// - Returns: nil where the choices, multiplied, are more than `limit`.
  init?(_ window: CrashWindow, _ grain: Grain, limit: Int) {
    self.grain = grain
    var left = limit
    for stage in window.stages {
      guard let names = window.allNames(stage, limit: left) else { return nil }
      var product = names.count
      var memory = 0
      var fates: [[[[WriteFate]]]] = []
      for file in window.files {
        guard let points = window.fates(file, stage, grain, limit: left / max(product, 1)) else { return nil }
        let choices = points.reduce(0) { $0 + $1.reduce(1) { $0 * $1.count } }
        product *= choices
        memory += choices * (file.base.count + file.writes.reduce(0) { $0 + $1.bytes.count })
        fates.append(points)
      }
      guard product <= left, memory <= ExhaustiveStates.largestMemory else { return nil }
      left -= product
      let outcomes = zip(window.files, fates).map(window.outcomes)
      for names in names {
        let files = names.unsynced.map { outcomes[$0] }
        plans.append(Plan(names: names, files: files, start: count))
        count += files.reduce(1) { $0 * $1.count }
      }
    }
  }

  func state(_ number: Int, of window: CrashWindow) -> CrashState? {
    guard number >= 0, number < count else { return nil }
    var (low, high) = (0, plans.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if plans[middle].start <= number { low = middle } else { high = middle }
    }
    let plan = plans[low]
    var rest = number - plan.start
    var chosen: [FileOutcome] = []
    chosen.reserveCapacity(plan.files.count)
    for outcomes in plan.files {
      chosen.append(outcomes[rest % outcomes.count])
      rest /= outcomes.count
    }
    return CrashState(window, plan.names, chosen, .exhaustive(grain, number))
  }
}
