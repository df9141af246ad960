import LogStore
import LogStoreTesting

/// Runs a script on a page, and keeps the ledger.
///
/// Whatever fails must fail with an error that fits; what does not fit is a problem.
final class ScriptRunner {
  let storage: SimulatedStorage
  let kind: ScriptedKind
  private(set) var page: (any ScriptedPage)?
  private(set) var ledger: Ledger
  /// The ledger after each change, with the number of calls made so far.
  private(set) var past: [(calls: Int, ledger: Ledger)] = []
  var problems: [String] = []
  /// Errors that were thrown, by step.
  private(set) var failures: [LogStoreError] = []
  /// Whether failed syncs take unsynced bytes out of the cache.
  let cacheLies: Bool
  /// Whether the page has damage on it from the start.
  var allowsDamage = false
  /// Codes that a step may fail with.
  var expected: Set<LogStoreError.Code>
  private(set) var isSuspended = false
  /// States of the history that were left behind when an opening settled it.
  private(set) var seen: [OrderedTable] = []
  /// The handle that the last `read` opened.
  var reader: (any ScriptedPage)?

  init(
    _ storage: SimulatedStorage, _ ledger: Ledger = Ledger(), on kind: ScriptedKind = .table,
    expecting: Set<LogStoreError.Code> = [], cacheLies: Bool = false
  ) {
    self.storage = storage
    self.kind = kind
    self.ledger = ledger
    self.cacheLies = cacheLies
    expected = expecting
    past = [(storage.callCount, ledger)]
  }

  private func note(_ change: (inout Ledger) -> Void) {
    change(&ledger)
    past.append((storage.callCount, ledger))
  }

  /// The ledger as it stood before a call: what counts for a crash in between.
  func ledger(before call: Int) -> Ledger { past.last { $0.calls < call }?.ledger ?? past[0].ledger }

  func run(_ script: Script) {
    open()
    for step in script.steps { run(step) }
  }

  func run(_ step: Script.Step) {
    if page == nil { open() }
    guard page != nil else { return }
    switch step {
    case .write(let operations, let durability): write(operations, durability)
    case .sync:
      attempt { page throws(LogStoreError) in
        try page.makeDurable()
      } then: {
        $0.acknowledgeSync()
      }
    case .compact(let keep):
      compact(keep)
    case .recover: recover()
    case .suspend:
      isSuspended = true
      attempt(lettingGo: true) { page throws(LogStoreError) in
        try page.suspend()
      } then: {
        $0.acknowledgeSync()
      }
    case .resume:
      attempt { page throws(LogStoreError) in
        try page.resume()
      } then: { _ in
      }
      isSuspended = false
      settle()
    case .reopen:
      close()
      open()
    case .kill:
      page = nil
      open()
    case .close: close()
    case .wait(let seconds): storage.clock.advance(by: .seconds(seconds))
    case .view: compareLive()
    }
  }

  func open() {
    page = nil
    isSuspended = false
    do throws(LogStoreError) {
      page = try kind.open(storage)
      settle()
    } catch {
      failed(error, "open")
      // Opening syncs what it finds; a sync that fails may take it out of the cache.
      note { $0.cacheLies = $0.cacheLies || cacheLies }
    }
  }

  /// What an opening or recovery shows is what counts from now on.
  private func settle() {
    guard let page, !isSuspended else { return }
    do {
      let (table, lsn) = (try page.table(), page.position.lsn)
      if let objection = ledger.objection(to: table, lsn: lsn, needed: ledger.needed(after: .kill)) {
        problems.append("while running: \(objection)")
      }
      seen += ledger.states(from: 0)
      note { $0.settle(table, lsn: lsn) }
      noteGiven(page.position)
    } catch {
      failed(error, "read")
      // What it would have shown cannot be told; the next step opens it again.
      self.page = nil
    }
  }

  private func write(_ operations: [TableOperation], _ durability: Durability) {
    guard let page else { return }
    let calls = storage.calls.count
    note { $0.begin(operations) }
    do throws(LogStoreError) {
      try page.write(operations, durability)
      // Only a recovery, or another opening, settles what a failed sync has left open.
      if ledger.isInDoubt { problems.append("a write is accepted while the outcome of an earlier one is unknown") }
      note { $0.acknowledge(durability) }
      noteGiven(page.position)
      if case .syncing = kind,
        storage.calls.dropFirst(calls).contains(where: { $0.operation == .sync && $0.errno != nil })
      {
        // The engine's own sync has failed behind the answer: what the page holds in memory alone a crash may take.
        note { $0.doubt(cacheLies: cacheLies) }
      }
    } catch {
      failed(error, "write")
      if error.code == .outcomeUnknown {
        note { $0.doubt(cacheLies: cacheLies) }
      } else {
        note { $0.refuse() }
      }
    }
  }

  private func noteGiven(_ position: Position) {
    var objection: String?
    note { objection = $0.give(position) }
    if let objection { problems.append("while running: \(objection)") }
  }

  private func compact(_ keep: Retention) {
    let (calls, failed) = (storage.calls.count, failures.count)
    // A compaction makes all durable on its way, but says so only when it is done.
    attempt { page throws(LogStoreError) in
      try page.compact(keeping: keep)
    } then: {
      $0.acknowledgeSync()
    }
    guard failures.count > failed else { return }
    // Where the new snapshot stands, an old file that cannot be looked at is no failure: the next compaction would only
    // write another.
    let made = storage.calls.dropFirst(calls)
    guard let named = made.firstIndex(where: { $0.operation == .rename && $0.name.hasSuffix(".snapshot") }),
      let fault = made[named...].last(where: { $0.errno != nil }),
      fault.operation == .open || fault.operation == .read, fault.name.prefix(10) < made[named].name.prefix(10)
    else { return }
    problems.append("a compaction fails behind its snapshot: \(fault)")
  }

  private func recover() {
    guard let page else { return }
    do throws(LogStoreError) {
      try page.recover()
      // Where nothing had failed, it does nothing, and promises nothing.
      if ledger.isInDoubt { settle() }
    } catch {
      failed(error, "recover")
    }
  }

  private func close() {
    isSuspended = true
    attempt(lettingGo: true) { page throws(LogStoreError) in
      try page.close()
    } then: {
      $0.acknowledgeSync()
    }
    page = nil
  }

  func attempt<Result>(
    lettingGo: Bool = false, _ body: (any ScriptedPage) throws(LogStoreError) -> Result,
    then success: (inout Ledger) -> Void
  ) {
    guard let page else { return }
    do throws(LogStoreError) {
      _ = try body(page)
      // What was in doubt is not promised by that; what the page shows now is.
      if !ledger.isInDoubt {
        note(success)
      } else if lettingGo {
        // Whoever lets go with success has made durable what was acknowledged before.
        note { $0.acknowledgeHandedOver() }
      } else {
        settle()
      }
    } catch {
      failed(error, "step")
      if error.code == .outcomeUnknown { note { $0.doubt(cacheLies: cacheLies) } }
    }
  }

  /// What is shown live is all that was acknowledged, and perhaps what is in doubt.
  private func compareLive() {
    guard let page, !isSuspended else { return }
    do {
      let needed = failures.isEmpty ? ledger.batches.count : ledger.handedOver
      if let objection = ledger.objection(to: try page.table(), lsn: page.position.lsn, needed: needed) {
        problems.append("live: \(objection)")
      }
    } catch {
      failed(error, "read")
    }
  }

  func failed(_ error: any Error, _ what: String) {
    guard let error = error as? LogStoreError else { return problems.append("\(what): \(error)") }
    failures.append(error)
    if !expected.contains(error.code) { problems.append("\(what) failed: \(error)") }
  }
}
