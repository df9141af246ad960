import LogStore
import LogStoreTesting

/// The disks that workloads start from.
enum Bases {
  /// A disk with the pages that a workload wants to find, and what is known of them.
  static func disk(for workload: Workload) -> (SimulatedStorage, [Expectation]) {
    let storage = SimulatedStorage(seed: workload.seed)
    let empty = (0..<workload.pages).map { _ in Expectation(Ledger(), exists: false) }
    guard workload.base != .absent else { return (storage, empty) }
    let run = WorkloadRun(
      Workload(
        kind: workload.kind, pages: workload.pages,
        steps: (0..<workload.pages).flatMap { page in steps(workload.base).map { .init(page, $0) } }),
      on: storage, empty)
    return (storage.crash(.powerCut(.keepAll)), run.expectations(at: run.moments.count - 1))
  }

  private static func steps(_ base: Workload.Base) -> [Step] {
    func put(_ key: String, _ tag: UInt64) -> TableOperation {
      .put(Array(key.utf8), OperationText.value(6, tag: tag))
    }
    let writes: [Step] = [.write([put("k0", 0x0B), put("base", 0x0C)], .power), .write([put("old", 0x0D)], .power)]
    return switch base {
    case .absent: []
    case .compacted: writes + [.compact(.none), .close]
    case .unclosed: writes
    }
  }
}
