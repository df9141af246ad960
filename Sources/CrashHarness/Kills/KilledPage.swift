import Glibc
import LogStore

/// A page as the parent knows it: what the last recovery showed.
struct KilledPage {
  let path: String
  private(set) var table = OrderedTable()
  private(set) var lsn: UInt64 = 0

  init(_ path: String) { self.path = path }

  init(_ path: String, table: OrderedTable, lsn: UInt64) {
    self.path = path
    self.table = table
    self.lsn = lsn
  }

  /// Recovers the page that a kill has left, and says what is wrong; nil if nothing is.
  ///
  /// - Parameters:
  ///   - issued: what was begun on it since the last recovery.
  ///   - closes: whether the page is closed behind the check, or let go, as if this process had been killed as well.
  mutating func objection(_ issued: [IssuedBatch], closes: Bool, verifies: Bool) -> String? {
    do {
      let glance = try shownToReader()
      let (shown, count, damage) = try recover()
      if let damage { return damage }
      if let objection = LogOrder(base: table, baseLSN: lsn, issued).objection(to: shown, lsn: count) {
        return objection
      }
      if let glance, glance.table != shown || glance.lsn != count {
        return "a reader shows LSN \(glance.lsn), the recovery behind it \(count)"
      }
      if let litter = TemporaryFolder.names(in: path).first(where: { $0.hasSuffix(".tmp") }) {
        return "left over: \(litter)"
      }
      let files = files()
      let page = try open()
      guard try page.table() == shown, page.position.lsn == count else {
        return "a second recovery shows another state"
      }
      let changed = self.files()
      if let name = Set(files.keys).union(changed.keys).sorted().first(where: { files[$0] != changed[$0] }) {
        return "a second recovery changes \(name)"
      }
      if verifies, let found = try PageInspector(path: path).verify().findings.first(where: { $0.severity == .damage })
      {
        return "verify finds damage after a kill: \(found)"
      }
      if closes { try page.close() }
      (table, lsn) = (shown, count)
      return nil
    } catch {
      return "opening failed: \(error)"
    }
  }

  private func open() throws(LogStoreError) -> Page {
    var options = PageOptions()
    options.compaction = .manual
    options.syncAfter = .seconds(100_000)
    return try Page(path: path, options: options)
  }

  /// What an opening shows that then lets go of the page, as if this process had been killed too.
  private func recover() throws -> (table: OrderedTable, lsn: UInt64, damage: String?) {
    let page = try open()
    let isWhole = !page.report.hasDamage && !page.report.isIncomplete
    let damage = "a kill is reported as damage: \(page.report.findings.filter { $0.severity == .damage })"
    return (try page.table(), page.position.lsn, isWhole ? nil : damage)
  }

  /// What a reader shows before anybody recovers; nil where there is no page yet.
  private func shownToReader() throws -> (table: OrderedTable, lsn: UInt64)? {
    do {
      let page = try Page(path: path, mode: .readOnly)
      return (try OrderedTable(page.view().records()), page.position.lsn)
    } catch let error as LogStoreError {
      guard error.code == .notFound, table == OrderedTable(), lsn == 0 else { throw error }
      return nil
    }
  }

  func files() -> [String: [UInt8]] {
    Dictionary(
      uniqueKeysWithValues: TemporaryFolder.names(in: path).compactMap { name in
        TemporaryFolder.read(path + "/" + name).map { (name, $0) }
      })
  }
}
