import LogStore
import Synchronization

/// Hands out the jobs of the parts, so that each part gets its share of the time.
final class PartQueue: Sendable {
  private struct Progress {
    var next = 0
    var seconds = 0.0
  }

  private let parts: [Part]
  private let plan: Plan
  private let state: Mutex<[Progress]>
  private let shrunk = Atomic(0)

  /// What a job counts while it is being done, so that not all workers choose the same part.
  private static let advance = 0.01

  init(_ parts: [Part], _ plan: Plan) {
    self.parts = parts
    self.plan = plan
    state = Mutex(parts.map { _ in Progress() })
  }

  /// The next job of the part that lags behind most; nil when all is done or the time is over.
  func next() -> (Part, Int)? {
    if plan.isOver { return nil }
    return state.withLock { state in
      let open = parts.indices.filter { place in
        let limit = plan.isCI ? parts[place].sample : parts[place].count
        return limit.map { state[place].next < $0 } ?? true
      }
      let place = open.min { state[$0].seconds / parts[$0].share < state[$1].seconds / parts[$1].share }
      guard let place else { return nil }
      defer { state[place].next += 1 }
      state[place].seconds += PartQueue.advance
      return (parts[place], state[place].next)
    }
  }

  /// Notes the time that a job took; returns it.
  func done(_ part: Part, since start: ContinuousClock.Instant) -> Double {
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    state.withLock { state in
      guard let place = parts.firstIndex(where: { $0.name == part.name }) else { return }
      state[place].seconds += seconds - PartQueue.advance
    }
    return seconds
  }

  /// Whether one more failure is to be shrunk, which takes seconds.
  func mayShrink() -> Bool { shrunk.add(1, ordering: .relaxed).oldValue < 8 }
}
