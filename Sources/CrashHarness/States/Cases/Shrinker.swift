import LogStore
import LogStoreTesting

/// Makes a case that does not hold simpler: fewer levels, pages, steps, operations, bytes, and the first state that shows it.
struct Shrinker {
  /// States at each moment that are tried for each simpler workload.
  var states = 256
  var check: @Sendable (Workload.Kind) -> StateCheck = { StateCheck(kind: $0) }
  /// Seconds for all attempts together.
  var seconds = 10.0

  func shrink(_ failure: Failure) -> Failure {
    let deadline = ContinuousClock.now + .seconds(seconds)
    var best = failure
    var improved = true
    while improved {
      improved = false
      for candidate in Shrinker.simpler(best.subject) {
        guard ContinuousClock.now < deadline else { return best }
        if let found = search(candidate, until: deadline) {
          best = found
          improved = true
          break
        }
      }
    }
    return best
  }

  /// The first crash of these workloads, one inside the other, that does not hold.
  private func search(_ candidate: CrashCase, until deadline: ContinuousClock.Instant) -> Failure? {
    guard let first = candidate.levels.first else { return nil }
    var profiles: [CrashProfile] = []
    for case let profile? in candidate.levels.map({ $0.point?.profile }) where !profiles.contains(profile) {
      profiles.append(profile)
    }
    let nested = candidate.levels.count > 1
    let effort = Effort(
      profiles: profiles, extent: CrashExtent(exhaustive: states * 4, samples: states / 4), limit: states, fullShare: 1,
      nested: nested
        ? .init(starts: states, limit: states / 4, profiles: profiles, deeper: candidate.levels.count > 2 ? 1 : 0) : nil
    )
    var explorer = Explorer(effort, seen: nil, check: check)
    explorer.follow = { depth, _ in depth < candidate.levels.count ? candidate.levels[depth].workload : nil }
    explorer.isOver = { ContinuousClock.now >= deadline }
    return explorer.explore(first.workload)
  }

  // MARK: What is simpler

  static func simpler(_ subject: CrashCase) -> [CrashCase] {
    var found: [CrashCase] = []
    if subject.levels.count > 1 {
      for place in subject.levels.indices {
        var levels = subject.levels
        levels.remove(at: place)
        found.append(CrashCase(levels))
      }
    }
    for place in subject.levels.indices {
      for workload in simpler(subject.levels[place].workload) {
        var levels = subject.levels
        levels[place].workload = workload
        // All levels are on the same pages.
        for other in levels.indices where levels[other].workload.pages > workload.pages {
          levels[other].workload = levels[other].workload.keeping(pages: workload.pages)
        }
        found.append(CrashCase(levels))
      }
    }
    return found
  }

  private static func simpler(_ workload: Workload) -> [Workload] {
    var found: [Workload] = []
    if workload.pages > 1 { found.append(workload.keeping(pages: workload.pages - 1)) }
    if workload.base != .absent {
      var other = workload
      other.base = .absent
      found.append(other)
    }
    var length = workload.steps.count
    while length > 0 {
      for start in stride(from: 0, to: workload.steps.count, by: length) {
        var other = workload
        other.steps.removeSubrange(start..<min(start + length, workload.steps.count))
        found.append(other)
      }
      length /= 2
    }
    for (place, placed) in workload.steps.enumerated() {
      for step in simpler(placed.step) {
        var other = workload
        other.steps[place].step = step
        found.append(other)
      }
    }
    return found
  }

  private static func simpler(_ step: Step) -> [Step] {
    let operations = step.operations
    var found: [Step] = []
    if operations.count > 1 {
      for place in operations.indices {
        var fewer = operations
        fewer.remove(at: place)
        found.append(step.writing(fewer))
      }
    }
    for (place, operation) in operations.enumerated() {
      guard let operation = simpler(operation) else { continue }
      var other = operations
      other[place] = operation
      found.append(step.writing(other))
    }
    if case .write(let operations, let durability) = step, durability != .power {
      found.append(.write(operations, .power))
    }
    return found
  }

  private static func simpler(_ operation: TableOperation) -> TableOperation? {
    switch operation {
    case .put(let key, let value) where value.count > 1: .put(key, Array(value.prefix(value.count / 2)))
    case .putBefore(let key, _, let value): .put(key, value)
    default: nil
    }
  }
}

extension Workload {
  /// Only what is done to the first pages.
  func keeping(pages count: Int) -> Workload {
    var other = self
    other.pages = count
    other.steps = steps.filter { $0.page < count }
    return other
  }
}
