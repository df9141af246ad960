import LogStore
import Synchronization

/// What the tiers have seen, row by row. All methods may be called from any thread.
final class Tally: Sendable {
  /// A row of the table.
  struct Row: Sendable {
    var name: String
    var states = 0
    /// Of them, those that no other was like; nil where nobody compared.
    var distinct: Int?
    /// Those that went by while it was worked on, as if nothing else had been: the time of all workers, divided by their number.
    var seconds = 0.0
    var violations = 0
    /// Why nothing was done; nil where something was.
    var skipped: String?
  }

  private struct State {
    var rows: [Row] = []
    var violations: [Violation] = []
    /// How many of them were told, or are being told.
    var told = 0
    var isTelling = false
  }

  private let state = Mutex(State())
  /// Told of each violation, in the order in which they were noted and one at a time, under no lock.
  private let report: @Sendable (Violation) -> Void

  init(report: @escaping @Sendable (Violation) -> Void = { _ in }) { self.report = report }

  var rows: [Row] { state.withLock { $0.rows } }
  var violations: [Violation] { state.withLock { $0.violations } }

  /// What one of several workers has spent on something.
  struct Work {
    var seconds: Double
    /// How many work beside each other.
    var workers: Int

    init(seconds: Double, of workers: Int) { (self.seconds, self.workers) = (seconds, workers) }

    init(since start: ContinuousClock.Instant, of workers: Int) {
      self.init(seconds: (ContinuousClock.now - start) / .seconds(1), of: workers)
    }
  }

  /// Adds what a part of a tier has done; rows of one name are one row.
  func add(_ name: String, states: Int, distinct: Int? = nil, work: Work? = nil) {
    change(name) {
      $0.states += states
      if let work { $0.seconds += work.seconds / Double(work.workers) }
      if let distinct { $0.distinct = ($0.distinct ?? 0) + distinct }
    }
  }

  func skip(_ name: String, because reason: String) { change(name) { $0.skipped = reason } }

  /// Notes a violation. Whoever comes while another thread tells leaves it to that one, which tells until none is left.
  func violation(_ violation: Violation, in name: String) {
    change(name) { $0.violations += 1 }
    let isMine = state.withLock { state in
      // Thousands of one kind would only hide the others.
      guard state.violations.count < 40 else { return false }
      state.violations.append(violation)
      if state.isTelling { return false }
      state.isTelling = true
      return true
    }
    guard isMine else { return }
    while let next = nextToTell() { report(next) }
  }

  /// Nil where all were told; from then on the next to come tells.
  private func nextToTell() -> Violation? {
    state.withLock { state in
      guard state.told < state.violations.count else {
        state.isTelling = false
        return nil
      }
      defer { state.told += 1 }
      return state.violations[state.told]
    }
  }

  private func change(_ name: String, _ body: (inout Row) -> Void) {
    state.withLock { state in
      let place = state.rows.firstIndex { $0.name == name } ?? state.rows.count
      if place == state.rows.count { state.rows.append(Row(name: name)) }
      body(&state.rows[place])
    }
  }
}
