import LogStore
import LogStoreTesting

extension FuzzTarget {
  /// Bytes are a script: batches, views, compactions, closing, being killed, reading the past. At every step the page shows
  /// what a plain table shows.
  static let operations = FuzzTarget(name: "operations") { bytes in
    var script = try PageScript(bytes)
    try script.run()
  }
}

private struct PageScript {
  private var input: InputBytes
  private let storage = SimulatedStorage(seed: 1)
  private var page: Page
  private var table = PlainTable()
  /// The batches since the page was made, with the position behind each.
  private var log: [(position: Position, operations: [LoggedOperation])] = []
  private var views: [(view: PageView, table: PlainTable)] = []
  private var compresses = false

  private static let path = "/page"

  init(_ bytes: [UInt8]) throws {
    input = InputBytes(bytes)
    page = try Page(path: PageScript.path, options: PageScript.options(storage, compresses: false))
  }

  private static func options(_ storage: SimulatedStorage, compresses: Bool) -> PageOptions {
    var options = PageOptions()
    options.storage = storage
    options.compaction = .manual
    options.syncAfter = .seconds(100_000)
    options.cacheBytes = 8 << 10
    options.compression = compresses ? .deflate : .none
    return options
  }

  mutating func run() throws {
    var steps = 0
    while !input.isEmpty, steps < 100 {
      steps += 1
      try step()
    }
    try check()
    try page.close()
    try reopen()
    try check()
    for (view, table) in views { try compare(view, table, "an old view") }
    try readLog(from: 0)
    let report = try PageInspector(path: PageScript.path, storage: storage).verify()
    try demand(report.severity ?? .note != .damage, "verify finds \(report.findings)")
    try page.close()
  }

  private mutating func step() throws {
    let choice = input.byte()
    switch choice % 16 {
    case 0...8: try write()
    case 9: try check()
    case 10: try page.compact(keep: [Retention.none, .previous, .count(2), .all][Int(input.byte() % 4)])
    case 11:
      compresses = input.byte() & 1 != 0
      try page.close()
      try reopen()
    case 12: try kill()
    case 13:
      try page.suspend()
      var clock = storage.clock
      clock.advance(by: .seconds(Int64(input.byte()) * 10))
      storage.clock = clock
      try page.resume()
    case 14:
      if views.count < 4 {
        views.append((try page.view(), table))
      } else {
        let (view, table) = views.remove(at: Int(input.byte() % 4))
        try compare(view, table, "an old view")
      }
    default:
      if input.byte() & 1 == 0 { try readPast() } else { try readLog(from: Int(input.byte())) }
    }
  }

  // MARK: Steps

  private mutating func write() throws {
    let choices = input.byte()
    let operations = (0..<(choices & 0x80 == 0 ? 1 : Int(choices & 7))).map { _ in operation() }
    var batch = WriteBatch()
    for operation in operations { try batch.add(operation) }
    try demand(
      batch.operationCount == operations.count, "a batch of \(operations.count) counts \(batch.operationCount)")
    let position = page.position
    if choices & 0x40 != 0 {
      let wrong = Position(salt: position.salt, lsn: position.lsn &+ 1)
      guard let error = try refusal({ try page.write(batch, expecting: wrong) }) else {
        throw Broken("a write at the wrong position is accepted")
      }
      try demand([.conflict, .historyChanged].contains(error.code), "a conflict is \(error)")
    }
    let after = try page.write(
      batch, durability: choices & 0x20 == 0 ? .process : .power, expecting: choices & 0x10 == 0 ? nil : position)
    try demand(after.lsn == position.lsn + UInt64(operations.count), "LSN \(after.lsn) after \(position.lsn)")
    try demand(after == page.position, "a write returns \(after), and the page is at \(page.position)")
    guard !operations.isEmpty else { return }
    for operation in operations { table.apply(operation) }
    log.append((after, operations))
  }

  private mutating func operation() -> LoggedOperation {
    let choice = input.byte()
    let key = key()
    switch choice % 12 {
    case 0...5: return .put(key: key, value: value())
    case 6, 7: return .putBefore(key: key, before: self.key(), value: value())
    case 8: return .remove(key: key)
    case 9: return .move(key: key, before: self.key())
    case 10: return .move(key: key, before: nil)
    default: return choice > 200 ? .clear : .remove(key: key)
    }
  }

  /// One of 256, some of them long.
  private mutating func key() -> [UInt8] {
    let number = input.byte()
    let length = number % 16 == 15 ? 300 + Int(number) * 2 : 1 + Int(number % 5)
    return [number] + [UInt8](repeating: number, count: length - 1)
  }

  private mutating func value() -> [UInt8] {
    let length = input.byte()
    let count = length < 0xF0 ? Int(length) : Int(length - 0xEF) * 5000
    let first = input.byte()
    return (0..<count).map { first &+ UInt8(truncatingIfNeeded: $0 &* Int(first & 3)) }
  }

  private mutating func reopen() throws {
    page = try Page(
      path: PageScript.path, mode: .readWrite, options: PageScript.options(storage, compresses: compresses))
    let report = page.report
    try demand(!report.hasDamage && !report.isIncomplete, "opening finds \(report.findings)")
    try demand(page.position.lsn == log.last?.position.lsn ?? 0, "LSN \(page.position.lsn), not \(log.count) batches")
  }

  /// The process goes, with whatever it had in memory; the next one finds the lock free.
  private mutating func kill() throws {
    let next = storage.crash(.kill)
    try reopen(on: next)
  }

  private mutating func reopen(on next: SimulatedStorage) throws {
    // The old page closes its copy of the disk, which nobody looks at again.
    let report = try Page(
      path: PageScript.path, mode: .readWrite, options: PageScript.options(next, compresses: compresses))
    let shown = try report.view()
    try compare(shown, table, "after being killed")
    try demand(report.position.lsn == log.last?.position.lsn ?? 0, "LSN \(report.position.lsn) after being killed")
    try demand(!report.report.hasDamage, "after being killed, opening finds \(report.report.findings)")
    try report.close()
  }

  // MARK: Checks

  private func check() throws { try compare(page.view(), table, "the page") }

  private func compare(_ view: PageView, _ table: PlainTable, _ what: String) throws {
    let records = try view.records().map { Row(key: $0.key, value: $0.value) }
    try demand(records == table.records, "\(what) has \(records.count) records, not these \(table.records.count)")
    try demand(view.count == records.count, "\(what) counts \(view.count)")
    for (index, record) in records.enumerated() {
      let found = try view.record(at: index)
      try demand(Row(key: found.key, value: found.value) == record, "\(what): record \(index) differs")
      try demand(view.index(of: record.key) == index, "\(what): record \(index) is found elsewhere")
      try demand(view.value(for: record.key) == record.value, "\(what): value \(index) differs")
    }
    try demand(view.value(for: "no such key") == nil, "\(what) has what nobody wrote")
  }

  /// The state after some of the batches, as far back as it is kept.
  private mutating func readPast() throws {
    guard !log.isEmpty else { return }
    let count = Int(input.byte()) % (log.count + 1)
    var past = PlainTable()
    for batch in log[..<count] { for operation in batch.operations { past.apply(operation) } }
    let lsn = count == 0 ? 0 : log[count - 1].position.lsn
    let error = try refusal {
      let old = try Page(
        path: PageScript.path, mode: .readOnly, options: PageScript.options(storage, compresses: compresses),
        at: .lsn(lsn))
      try compare(old.view(), past, "LSN \(lsn)")
    }
    try demand(error?.code ?? .notKept == .notKept, "reading LSN \(lsn) fails with \(String(describing: error))")
  }

  /// The batches behind one of them, as far back as they are kept.
  private func readLog(from number: Int) throws {
    guard number < log.count else { return }
    var next = number + 1
    let error = try refusal {
      try page.readOperations(after: log[number].position) { batch in
        try demand(next < log.count, "the log has a batch that nobody wrote: \(batch)")
        try demand(batch.operations == log[next].operations, "batch \(next) is logged otherwise")
        try demand(batch.position.lsn == log[next].position.lsn, "batch \(next) is at \(batch.position)")
        next += 1
        return true
      }
    }
    if let error { return try demand(error.code == .notKept, "reading the log fails with \(error)") }
    try demand(next == log.count, "the log ends before batch \(next) of \(log.count)")
  }
}
