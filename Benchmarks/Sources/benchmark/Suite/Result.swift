/// What a workload came to.
struct Result {
  let workload: Workload
  let contestants: [String]
  /// Nanoseconds an operation, by contestant, in the order of the rounds; the first round is not among them.
  let times: [[Double]]

  func index(of name: String) -> Int? { contestants.firstIndex(of: name) }

  func median(_ index: Int) -> Double { Result.median(times[index]) }

  /// The median of LogStore's time over another's in the same round.
  func ratio(to index: Int) -> Double? {
    guard let mine = self.index(of: LogStoreStore.name), mine != index else { return nil }
    return Result.median(zip(times[mine], times[index]).map { $0 / $1 })
  }

  static func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    guard let last = sorted.indices.last else { return .nan }
    return (sorted[last / 2] + sorted[(last + 1) / 2]) / 2
  }
}
