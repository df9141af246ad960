import LogStore
import LogStoreTesting

/// One page of a workload that runs: what is done to it, and what its user was told.
final class WorkloadPage {
  private let storage: SimulatedStorage
  private let kind: Workload.Kind
  let path: String
  private var page: OpenPage?
  private var ledger: Ledger
  private var exists: Bool
  private var isSuspended = false
  /// What was known after each change, with the number of calls made so far.
  private var past: [(calls: Int, known: Expectation)] = []
  private(set) var problems: [String] = []

  init(_ storage: SimulatedStorage, _ kind: Workload.Kind, _ path: String, _ ledger: Ledger, exists: Bool) {
    self.storage = storage
    self.kind = kind
    self.path = path
    self.ledger = ledger
    self.exists = exists
    note { _ in }
  }

  private func note(_ change: (inout Ledger) -> Void) {
    change(&ledger)
    past.append((storage.callCount, Expectation(ledger, exists: exists)))
  }

  /// The same, where somebody is given a position with it.
  private func give(_ position: Position, _ change: (inout Ledger) -> Void) {
    var objection: String?
    note {
      change(&$0)
      objection = $0.give(position)
    }
    if let objection { problems.append("while running: \(objection)") }
  }

  /// What counts for a crash before a call takes effect.
  func expectation(before call: Int) -> Expectation {
    past.last { $0.calls < call }?.known ?? past[0].known
  }

  func perform(_ step: Step) {
    if case .wait(let seconds) = step { return storage.clock.advance(by: .seconds(seconds)) }
    if page == nil { open() }
    if isSuspended, step != .suspend, step != .close { resume() }
    if step == .kill { return kill() }
    guard let page else { return }
    switch step {
    case .write(let operations, let durability): write(operations, durability)
    case .sync: attempt("sync") { () throws(LogStoreError) in try page.sync() }
    case .compact(let keep):
      // A compaction makes all durable on its way, but says so only when it is done.
      attempt("compact") { () throws(LogStoreError) in try page.compact(keep) }
    case .suspend:
      isSuspended = true
      attempt("suspend") { () throws(LogStoreError) in try page.suspend() }
    case .resume, .kill, .wait: break
    case .close: close()
    case .failedClose(let showsOld): failClose(showsOld)
    case .reopen:
      close()
      open()
    case .full(let fits, let operations):
      if fits > 0 { storage.fail(Fault(.write, .short(fits))) }
      storage.fail(Fault(.write, .error(28)))
      write(operations, .power, expecting: [.noSpace])
      storage.heal()
    case .failedSync(let showsOld, let operations):
      storage.fail(Fault(.sync, .failedSync(cache: showsOld ? .old : .new)))
      write(operations, .power, expecting: [.outcomeUnknown, .io], cacheLies: showsOld)
      storage.heal()
      recover()
    }
  }

  /// Nobody may hold the page any more, so that its lock is free.
  private func kill() {
    page = nil
    isSuspended = false
    open()
  }

  func open() {
    page = nil
    do throws(LogStoreError) {
      page = try OpenPage(kind, storage, path, exists ? .readWrite : .create)
      exists = true
      settle()
    } catch {
      problems.append("opening failed: \(error)")
    }
  }

  /// What an opening or recovery shows is what counts from now on.
  private func settle() {
    guard let page, !isSuspended else { return }
    do {
      let (table, lsn) = (try page.table(), page.lsn)
      if let objection = ledger.objection(to: table, lsn: lsn, needed: ledger.needed(after: .kill)) {
        problems.append("while running: \(objection)")
      }
      give(page.position) { $0.settle(table, lsn: lsn) }
    } catch {
      problems.append("reading failed: \(error)")
    }
  }

  private func write(
    _ operations: [TableOperation], _ durability: Durability, expecting: Set<LogStoreError.Code> = [],
    cacheLies: Bool = false
  ) {
    guard let page else { return }
    note { $0.begin(operations) }
    do throws(LogStoreError) {
      try page.write(operations, durability)
      give(page.position) { $0.acknowledge(durability) }
    } catch {
      if !expecting.contains(error.code) { problems.append("writing failed: \(error)") }
      note { if error.code == .outcomeUnknown { $0.doubt(cacheLies: cacheLies) } else { $0.refuse() } }
    }
  }

  private func recover() {
    guard let page else { return }
    do throws(LogStoreError) {
      try page.recover()
      if ledger.isInDoubt { settle() }
    } catch {
      problems.append("recovering failed: \(error)")
    }
  }

  private func resume() {
    guard let page else { return }
    do throws(LogStoreError) {
      try page.resume()
      isSuspended = false
      settle()
    } catch {
      problems.append("resuming failed: \(error)")
    }
  }

  private func close() {
    guard let page else { return }
    attempt("close") { () throws(LogStoreError) in try page.close() }
    self.page = nil
    isSuspended = false
  }

  /// All that was written is durable first, so that there is nothing but the close mark that could be lost.
  private func failClose(_ showsOld: Bool) {
    guard let page else { return }
    attempt("sync") { () throws(LogStoreError) in try page.sync() }
    storage.fail(Fault(.sync, .failedSync(cache: showsOld ? .old : .new)))
    do throws(LogStoreError) {
      // Where a session has written nothing, it has no mark to sync.
      try page.close()
    } catch {
      if error.code != .outcomeUnknown { problems.append("close failed: \(error)") }
    }
    storage.heal()
    self.page = nil
    isSuspended = false
  }

  /// Does what makes all that was written durable.
  private func attempt(_ name: String, _ body: () throws(LogStoreError) -> Void) {
    do throws(LogStoreError) {
      try body()
      note { $0.acknowledgeSync() }
    } catch {
      problems.append("\(name) failed: \(error)")
    }
  }
}
