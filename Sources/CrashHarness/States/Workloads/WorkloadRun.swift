import LogStore
import LogStoreTesting

/// A workload that runs on a disk which keeps every moment.
final class WorkloadRun {
  let workload: Workload
  let storage: SimulatedStorage
  let pages: [WorkloadPage]
  /// The first moment that belongs to the last step, where that matters.
  private(set) var firstMoment = 0
  /// How many calls had been made at each moment.
  private(set) var moments: [Int] = []

  /// Runs `workload`; `ledgers` holds what is known of its pages, where somebody has used them before.
  init(_ workload: Workload, on storage: SimulatedStorage, _ known: [Expectation], last: Int = .max) {
    self.workload = workload
    self.storage = storage
    storage.forgetCalls()
    storage.recordMoments()
    pages = known.enumerated().map { number, known in
      WorkloadPage(storage, workload.kind, Workload.path(number), known.ledger, exists: known.exists)
    }
    for page in pages { page.open() }
    for (place, placed) in workload.steps.enumerated() {
      if place == last { firstMoment = storage.moments.count }
      pages[placed.page].perform(placed.step)
    }
    moments = storage.moments
    // A step that changes nothing on disk may still have promised something.
    firstMoment = min(firstMoment, moments.count - 1)
  }

  var problems: [String] { pages.flatMap(\.problems) }

  /// What counts for a crash at a moment, before the next call that changes anything.
  func expectations(at moment: Int) -> [Expectation] {
    let next = moment + 1 < moments.count ? moments[moment + 1] : .max
    return pages.map { $0.expectation(before: next) }
  }
}
