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
          try page.forgetLosses()
        } then: { _ in
        }
      case .read: beside("read") { reader = try Page.open(storage, .readOnly) }
      case .refresh: beside("refresh") { try reader?.refresh() }
      case .verify: beside("verify") { try verify() }
      case .salvage: beside("salvage") { try salvage() }
      }
    }
  }

  private func beside(_ what: String, _ body: () throws -> Void) {
    do {
      try body()
      if let reader { try compare(reader.table(), "a reader") }
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
    try compare(Page(path: ScriptRunner.copyPath, mode: .readOnly, options: quietOptions(storage)).table(), "the copy")
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
