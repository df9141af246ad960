import LogStore

/// Recovers a page of a real file system after a crash, and holds it against what must hold after every one.
struct PageJudge {
  struct Shown {
    var table: OrderedTable
    var lsn: UInt64
  }

  /// What is wrong with the page.
  struct Objection: Error {
    var text: String
    init(_ text: String) { self.text = text }
  }

  let path: String
  /// Whether the page is closed in the end, or let go, as if this process had been killed as well.
  var closes = false
  /// Whether every byte of every generation is read.
  var verifies = false
  /// Whether something is written behind what was recovered, and read again.
  var goesOn = false

  /// - Parameter accepts: what is wrong with the state that recovery shows; nil if nothing is.
  /// - Returns: that state.
  func judge(_ accepts: (OrderedTable, UInt64) -> String?) throws(Objection) -> Shown {
    do {
      return try judged(accepts)
    } catch let objection as Objection {
      throw objection
    } catch {
      throw Objection("opening failed: \(error)")
    }
  }

  private func judged(_ accepts: (OrderedTable, UInt64) -> String?) throws -> Shown {
    let glance = try shownToReader()
    let shown = try recover()
    if let objection = accepts(shown.table, shown.lsn) { throw Objection(objection) }
    if let glance {
      guard glance.table == shown.table, glance.lsn == shown.lsn else {
        throw Objection("a reader shows LSN \(glance.lsn), the recovery behind it \(shown.lsn)")
      }
    } else if shown.lsn > 0 {
      throw Objection("a reader finds no page, the recovery behind it LSN \(shown.lsn)")
    }
    if let litter = TemporaryFolder.names(in: path).first(where: { $0.hasSuffix(".tmp") }) {
      throw Objection("left over: \(litter)")
    }
    let files = PageJudge.files(of: path)
    var page: Page? = try open()
    guard let again = page, try again.table() == shown.table, again.position.lsn == shown.lsn else {
      throw Objection("a second recovery shows another state")
    }
    let changed = PageJudge.files(of: path)
    if let name = Set(files.keys).union(changed.keys).sorted().first(where: { files[$0] != changed[$0] }) {
      throw Objection("a second recovery changes \(name)")
    }
    if verifies, let found = try PageInspector(path: path).verify().findings.first(where: { $0.severity == .damage }) {
      throw Objection("verify finds damage after a crash: \(found)")
    }
    if goesOn { try again.put("value", for: "new") }
    if closes || goesOn { try again.close() }
    page = nil
    if goesOn { try checkContinuation(shown) }
    return shown
  }

  /// What an opening shows that lets go of the page.
  private func recover() throws -> Shown {
    let page = try open()
    guard !page.report.hasDamage, !page.report.isIncomplete else {
      throw Objection("a mere crash is reported as damage: \(page.report.findings.filter { $0.severity == .damage })")
    }
    return Shown(table: try page.table(), lsn: page.position.lsn)
  }

  private func checkContinuation(_ shown: Shown) throws {
    var expected = shown.table
    expected.apply(.put(Array("new".utf8), Array("value".utf8)))
    let page = try Page(path: path, mode: .readOnly)
    guard try page.table() == expected, page.position.lsn == shown.lsn + 1 else {
      throw Objection("what was written behind a recovery is lost")
    }
  }

  /// What a reader shows before anybody recovers; nil where it finds no page.
  private func shownToReader() throws -> Shown? {
    do {
      let page = try Page(path: path, mode: .readOnly)
      return Shown(table: try page.table(), lsn: page.position.lsn)
    } catch let error as LogStoreError {
      guard error.code == .notFound else { throw error }
      return nil
    }
  }

  private func open() throws(LogStoreError) -> Page {
    var options = PageOptions()
    options.compaction = .manual
    options.syncAfter = .seconds(100_000)
    return try Page(path: path, options: options)
  }

  static func files(of path: String) -> [String: [UInt8]] {
    Dictionary(
      uniqueKeysWithValues: TemporaryFolder.names(in: path).compactMap { name in
        TemporaryFolder.read(path + "/" + name).map { (name, $0) }
      })
  }
}
