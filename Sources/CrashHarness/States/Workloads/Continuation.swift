import LogStore

/// What is done to a page that a crash has left, so that it can be crashed again: in recovery, the start of a journal, a
/// compaction behind a recovery, closing.
enum Continuation {
  private static let steps: [[Step]] = [
    [.write([put("n1", 1)], .power)],
    [.compact(.none)],
    [.write([put("n1", 2)], .process), .kill, .write([put("n2", 3)], .power)],
    [
      .write([put("n1", 4), .remove(Array("k0".utf8))], .process), .compact(.previous),
      .write([put("n2", 5)], .process),
    ],
    [.reopen, .write([put("n1", 6)], .power), .close],
    [.failedSync(showsOld: true, [put("n1", 7)]), .close],
    [.failedClose(showsOld: false), .compact(.none), .write([put("n1", 10)], .power)],
    [.failedClose(showsOld: false), .full(fits: 42, [put("n1", 11)]), .write([put("n2", 12)], .ordered), .sync],
    [.full(fits: 20, [put("n3", 8)]), .write([put("n1", 9)], .process), .sync],
  ]

  private static func put(_ key: String, _ tag: UInt64) -> TableOperation {
    .put(Array(key.utf8), OperationText.value(4, tag: tag))
  }

  static func workload(_ number: Int, after before: Workload) -> Workload {
    let chosen = steps[number % steps.count]
    var workload = before
    workload.steps = (0..<before.pages).flatMap { page in chosen.map { Workload.Placed(page, $0) } }
    return workload
  }
}
