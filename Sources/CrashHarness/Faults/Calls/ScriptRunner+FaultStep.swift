import LogStore
import LogStoreTesting

/// A step of a session in which calls fail.
enum FaultStep: Sendable {
  case page(Script.Step)
  /// Open another handle for reading, beside the writer.
  case read
  /// Read on in the handle that the last `read` opened.
  case refresh
  case verify
  /// Copy what can be read into another page.
  case salvage
  /// Drop the losses on record.
  case forget
  /// Look for pages beside this one.
  case find
}

/// What is done beside the writer takes no lock and must change nothing.
extension ScriptRunner {
  /// Where a salvage puts its copy.
  static let copyPath = "/copy"

  func run(_ steps: [FaultStep]) {
    open()
    for step in steps {
      switch step {
      case .page(let step): run(step)
      case .forget:
        attempt { page throws(LogStoreError) in
          try (page as? Page)?.forgetLosses()
        } then: { _ in
        }
      case .read:
        reader = nil
        beside("read") { reader = try kind.open(storage, .readOnly) }
      case .refresh: beside("refresh") { try (reader as? Page)?.refresh() }
      case .verify: beside("verify") { try verify() }
      case .salvage: beside("salvage") { try salvage() }
      case .find: beside("find") { try find() }
      }
    }
  }

  private func beside(_ what: String, _ body: () throws -> Void) {
    do {
      try body()
      if let reader { try compare(reader.table(), "a reader") }
    } catch let error as LogStoreError
      where error.code == .damaged && cacheLies && storage.faultHasFired && reader != nil
    {
      // What a failed sync has taken out of the cache, a reader that had seen it there cannot read again, also after the
      // writer has recovered.
      reader = nil
    } catch {
      reader = nil
      // Where no page has come into being there is none.
      if seen.isEmpty, (error as? LogStoreError)?.code == .notFound { return }
      failed(error, what)
    }
  }

  /// A reader shows a state of the history: which one depends on when it last looked, and what the cache had then.
  private func compare(_ table: OrderedTable, _ who: String) throws {
    guard !seen.contains(table), !ledger.states(from: 0).contains(table) else { return }
    problems.append("\(who) shows a state that is none in the history")
  }

  private func verify() throws(LogStoreError) {
    let report = try PageInspector(path: pagePath, storage: storage).verify()
    if !allowsDamage, report.severity == .damage { problems.append("verify finds damage: \(report.findings)") }
  }

  private func salvage() throws {
    storage.delete(ScriptRunner.copyPath)
    let report = try PageInspector(path: pagePath, storage: storage).salvage(
      to: ScriptRunner.copyPath, options: quietOptions(storage))
    // Around a read error it goes, and says so.
    guard !report.findings.contains(where: { $0.kind == .unreadable }) else { return }
    try compare(kind.open(storage, .readOnly, path: ScriptRunner.copyPath).table(), "the copy")
  }

  /// What cannot be looked into is named too, so that whoever opens it is told why.
  private func find() throws(LogStoreError) {
    let found = try PageInspector.pages(at: "/", storage: storage)
    if !seen.isEmpty, !found.contains(where: { $0.hasSuffix(pagePath) }) {
      problems.append("the page is not found among \(found)")
    }
  }
}

extension Ledger {
  /// The states after so many batches, and after each later one.
  func states(from count: Int) -> [OrderedTable] {
    var table = base
    var found: [OrderedTable] = count == 0 ? [table] : []
    for (index, batch) in batches.enumerated() {
      table.apply(batch)
      if index + 1 >= count { found.append(table) }
    }
    return found
  }
}
