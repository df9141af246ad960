import LogStore
import LogStoreTesting

/// Opens what a crash has left and holds it against what was promised, page by page.
struct StateCheck {
  enum Depth: UInt64, Comparable {
    /// Open for reading, and compare what is shown.
    case look = 1
    /// Open, which also brings the files in order, and compare what is shown.
    case quick
    /// Also: the other readers, a second recovery, going on, closing, compacting.
    case full

    static func < (left: Depth, right: Depth) -> Bool { left.rawValue < right.rawValue }
  }

  var kind: Workload.Kind
  /// Told of every opening's outcome, for the sake of a test of the checks themselves.
  var objection: (@Sendable (_ lsn: UInt64, Depth) -> String?)?

  /// What is wrong; nil if nothing is.
  func problem(with storage: SimulatedStorage, _ known: [Expectation], _ crash: CrashKind, _ depth: Depth) -> String? {
    for (number, known) in known.enumerated() {
      let path = Workload.path(number)
      do {
        let others = depth == .full ? try Readers(kind, storage, path) : nil
        guard let problem = try problem(storage, path, known, crash, depth, others) else { continue }
        return number == 0 ? problem : "page \(number): \(problem)"
      } catch {
        return "opening failed: \(error)"
      }
    }
    return nil
  }

  private func problem(
    _ storage: SimulatedStorage, _ path: String, _ known: Expectation, _ crash: CrashKind, _ depth: Depth,
    _ others: Readers?
  ) throws -> String? {
    let page = try OpenPage(kind, storage, path, !known.exists ? .create : depth == .look ? .readOnly : .readWrite)
    let position = page.position
    let lsn = position.lsn
    let print = try page.fingerprint()
    guard known.allows(print, lsn: lsn, after: crash) else {
      let table = try page.table()
      return known.ledger.objection(to: table, lsn: lsn, needed: known.ledger.needed(after: crash))
        ?? "the quick way of reading shows what no other does"
    }
    if let objection = known.ledger.objection(toGiving: position, showing: print) { return objection }
    if let objection = objection?(lsn, depth) { return objection }
    if page.report.hasDamage {
      return "a mere crash is reported as damage: \(page.report.findings.filter { $0.severity == .damage })"
    }
    guard depth == .full else { return nil }
    if let problem = others?.disagreement(with: lsn, print) { return problem }
    let shown = try page.table()
    guard Fingerprint(shown) == print else { return "the quick way of reading shows what no other does" }
    if let litter = storage.names(in: path).first(where: { $0.hasSuffix(".tmp") }) { return "left over: \(litter)" }
    return try secondRecovery(storage, path, shown, lsn, known.ledger)
  }

  /// Idempotence: a second recovery changes no byte and shows the same.
  private func secondRecovery(
    _ storage: SimulatedStorage, _ path: String, _ shown: OrderedTable, _ lsn: UInt64, _ ledger: Ledger
  ) throws -> String? {
    let files = storage.files(in: path)
    let killed = storage.crash(.kill)
    let again = try OpenPage(kind, killed, path, .readWrite)
    guard try again.table() == shown, again.lsn == lsn else { return "a second recovery shows another state" }
    let changed = killed.files(in: path)
    guard changed == files else {
      let names = Set(files.keys).union(changed.keys).sorted().filter { files[$0] != changed[$0] }
      return "a second recovery changes \(names)"
    }
    return try goOn(again, killed, path, shown, lsn, ledger)
  }

  /// Continuation: what is written now survives the next crash, together with what there was.
  private func goOn(
    _ page: OpenPage, _ storage: SimulatedStorage, _ path: String, _ shown: OrderedTable, _ lsn: UInt64,
    _ ledger: Ledger
  ) throws -> String? {
    let more: [TableOperation] = [.put(Array("new".utf8), Array("value".utf8))]
    try page.write(more, .power)
    var expected = shown
    expected.apply(more)
    let written = Fingerprint(expected)
    if let objection = ledger.objection(toGiving: page.position, showing: written) { return objection }
    let later = storage.crash(.powerCut(.dropUnsynced))
    let again = try OpenPage(kind, later, path, .readWrite)
    guard try again.table() == expected, again.lsn == lsn + 1 else {
      return "what was written behind a recovery is lost"
    }
    try again.close()
    let closed = try Readers(kind, later, path)
    if let problem = closed.disagreement(with: lsn + 1, written) { return "after closing: \(problem)" }
    return try tidyUp(page, storage, path, written)
  }

  /// Tidiness: compacting leaves the newest generation, and what was shown.
  private func tidyUp(
    _ page: OpenPage, _ storage: SimulatedStorage, _ path: String, _ written: Fingerprint
  ) throws -> String? {
    try page.compact(.none)
    if let problem = storage.untidiness(in: path) { return problem }
    return try page.fingerprint() == written ? nil : "a compaction changes what is shown"
  }
}
