import LogStore
import LogStoreTesting

/// Opens what a crash has left and holds it against the ledger: section by section, what must hold after every crash.
struct CrashExaminer {
  /// Whether damage may be reported: not where nothing but a crash has happened.
  var allowsDamage = false
  var kind = ScriptedKind.table

  /// What is wrong; empty if nothing is.
  func examine(_ storage: SimulatedStorage, _ ledger: Ledger, _ crash: Crash) -> [String] {
    do {
      let needed = ledger.needed(after: crash)
      let page = try kind.open(storage)
      let shown = try page.table()
      let position = page.position
      let lsn = position.lsn
      if let objection = ledger.objection(to: shown, lsn: lsn, needed: needed) { return [objection] }
      var ledger = ledger
      if let objection = ledger.give(position, showing: Fingerprint(shown)) { return [objection] }
      if !allowsDamage, page.report.hasDamage {
        return ["a mere crash is reported as damage: \(page.report.findings.filter { $0.severity == .damage })"]
      }
      if let litter = storage.names(in: pagePath).first(where: { $0.hasSuffix(".tmp") }) {
        return ["left over: \(litter)"]
      }
      // Idempotence: a second recovery changes no byte and shows the same.
      let files = storage.files(in: pagePath)
      let killed = storage.crash(.kill)
      let again = try kind.open(killed, .readWrite)
      guard try again.table() == shown, again.position.lsn == lsn else {
        return ["a second recovery shows another state"]
      }
      let changed = killed.files(in: pagePath)
      guard changed == files else {
        let names = Set(files.keys).union(changed.keys).sorted().filter { files[$0] != changed[$0] }
        return ["a second recovery changes \(names)"]
      }
      return try goOn(again, killed, shown, ledger)
    } catch {
      return ["opening failed: \(error)"]
    }
  }

  /// Continuation: what is written now survives the next crash, together with what there was.
  private func goOn(
    _ page: any ScriptedPage, _ storage: SimulatedStorage, _ shown: OrderedTable, _ ledger: Ledger
  ) throws -> [String] {
    let lsn = page.position.lsn
    let more: [TableOperation] = [.put(Array("new".utf8), Array("value".utf8))]
    try page.write(more, .power)
    var expected = shown
    expected.apply(more)
    let written = Fingerprint(expected)
    if let objection = ledger.objection(toGiving: page.position, showing: written) { return [objection] }
    let later = storage.crash(.powerCut(.dropUnsynced))
    let again = try kind.open(later, .readWrite)
    guard try again.table() == expected, again.position.lsn == lsn + 1 else {
      return ["what was written behind a recovery is lost"]
    }
    try again.close()
    let closed = try kind.open(later, .readOnly)
    guard try closed.table() == expected else { return ["what was written behind a recovery is lost by closing"] }
    // Tidiness: whatever was left of earlier generations goes.
    try page.compact(keeping: .none)
    if let problem = storage.untidiness(in: pagePath, allowsGaps: allowsDamage) { return [problem] }
    guard try page.table() == expected else { return ["a compaction changes what is shown"] }
    return []
  }
}
