import LogStore
import LogStoreTesting

/// A subcommand of `logctl` on a page, and what must be there whatever becomes of it.
struct LogctlScenario: Sendable {
  enum Command: String, CaseIterable, Sendable { case `import`, compact, salvage, forget, replay, verify }

  let command: Command
  private let folder: TemporaryFolder
  var template: String { folder.path + "/template" }
  var lines: String { folder.path + "/lines" }
  /// What the page shows before the command has run.
  let before: OrderedTable
  /// What an import adds, line by line.
  private static let added = (0..<6).map { number in
    TableOperation.put(Array("new \(number)".utf8), Array("value".utf8))
  }

  init(_ command: Command) throws {
    self.command = command
    folder = TemporaryFolder()
    let path = folder.path + "/template"
    func operation(_ number: Int) -> TableOperation {
      .put(Array("k\(number % 7)".utf8), [UInt8](repeating: 65, count: 40))
    }
    let page = try Page(path: path, options: LogctlScenario.options)
    for number in 0..<6 { try page.write(WriteBatch([operation(number)])) }
    try page.compact(keep: .previous)
    for number in 6..<12 { try page.write(WriteBatch([operation(number)])) }
    try page.close()
    if command == .forget {
      let journal = path + "/0000000001.journal"
      var bytes = TemporaryFolder.read(journal) ?? []
      bytes[FramePlace.all(in: bytes)[2].offset + 12] ^= 1
      TemporaryFolder.write(bytes, to: journal)
      try Page(path: path, options: LogctlScenario.options).close()
    }
    before = try Page(path: path, mode: .readOnly, options: LogctlScenario.options).table()
    let text = (0..<6).map { #"{"key":"new \#($0)","value":"value"}"# }.joined(separator: "\n") + "\n"
    TemporaryFolder.write(Array(text.utf8), to: folder.path + "/lines")
  }

  private static var options: PageOptions {
    var options = PageOptions()
    options.compaction = .manual
    return options
  }

  /// The command line, for a shell.
  func shell(_ logctl: String, on page: String) -> String {
    switch command {
    case .import: "\(logctl) import --durability power \(page) < \(lines)"
    case .salvage: "\(logctl) salvage \(page) -o \(page)-copy"
    case .forget: "\(logctl) forget --yes \(page)"
    case .replay, .verify, .compact: "\(logctl) \(command) \(page)"
    }
  }

  /// Of what the command prints, what it prints each time: all but how long an import took, which stands in lines of its
  /// own, and what a compaction kept, which it tells as far as it could look.
  func stable(_ output: [UInt8]) -> [UInt8] {
    switch command {
    case .import: Array(output.prefix { $0 != UInt8(ascii: "\n") })
    case .compact: Array(output.split(separator: UInt8(ascii: ","), maxSplits: 2).prefix(2).joined())
    default: output
    }
  }

  /// What is wrong with what is left; nil if nothing is.
  func examine(_ page: String, succeeded: Bool) throws -> String? {
    if command == .replay || command == .verify || command == .salvage, !isUnchanged(page) {
      return "a command that only reads has changed the page"
    }
    let opened = try Page(path: page, mode: .readWrite, options: LogctlScenario.options)
    let damage = opened.report.findings.filter { $0.severity == .damage }
    if damage.contains(where: { $0.kind != .recordedLoss }) || (command != .forget && !damage.isEmpty) {
      return "damage is reported: \(damage)"
    }
    if command == .forget, succeeded, !damage.isEmpty { return "what was forgotten is reported: \(damage)" }
    let shown = try opened.table()
    var states = [before]
    if command == .import {
      for operation in LogctlScenario.added {
        var next = states[states.count - 1]
        next.apply(operation)
        states.append(next)
      }
    }
    if succeeded ? shown != states[states.count - 1] : !states.contains(shown) {
      return "the page shows \(shown.records.count) records, which is no state of it"
    }
    try opened.close()
    if let litter = TemporaryFolder.names(in: page).first(where: { $0.hasSuffix(".tmp") }) {
      return "left over: \(litter)"
    }
    return command == .salvage ? try examineCopy(page + "-copy", succeeded) : nil
  }

  /// A copy that was not finished is no page, or one with a part of the records.
  private func examineCopy(_ copy: String, _ succeeded: Bool) throws -> String? {
    do throws(LogStoreError) {
      let page = try Page(path: copy, mode: .readOnly, options: LogctlScenario.options)
      let records = try all(page)
      if succeeded ? records != before.records : !records.allSatisfy(before.records.contains) {
        return "the copy holds other records than the page"
      }
    } catch {
      guard !succeeded, error.code == .notFound || error.code == .noBase else { return "the copy: \(error)" }
    }
    return nil
  }

  private func all(_ page: Page) throws(LogStoreError) -> [Record] {
    do { return try page.table().records } catch {
      throw (error as? LogStoreError) ?? LogStoreError(.damaged, "\(error)")
    }
  }

  private func isUnchanged(_ page: String) -> Bool {
    let names = TemporaryFolder.names(in: template).sorted()
    return TemporaryFolder.names(in: page).sorted() == names
      && names.allSatisfy { TemporaryFolder.read(template + "/" + $0) == TemporaryFolder.read(page + "/" + $0) }
  }
}
