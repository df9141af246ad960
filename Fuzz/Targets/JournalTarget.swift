import LogStoreTesting

@testable import LogStore

extension FuzzTarget {
  /// A directory of any files: reading changes nothing, fails only in the ways that are documented, and agrees with
  /// `verify`; writing goes on from exactly what reading showed, and a second opening, a compaction and a copy show it too.
  static let journal = FuzzTarget(name: "journal") { bytes in
    var page = FuzzedPage(PageInput(bytes))
    try page.run()
  }
}

private struct FuzzedPage {
  let storage = SimulatedStorage(seed: 1)
  let policy: RecoveryPolicy
  private let isResealed: Bool
  /// Whether no snapshot lies under checksums that fit: only `verify` finds that out.
  private var isTrusted = true
  private static let path = "/page"

  init(_ input: PageInput) {
    policy = input.policy
    isResealed = input.isResealed
    storage.makeDirectory(FuzzedPage.path)
    for (name, bytes) in input.files.sorted(by: { $0.key < $1.key }) {
      storage.place(bytes, at: FuzzedPage.path + "/" + name)
    }
  }

  /// What an opening shows.
  private struct Shown {
    var report: RecoveryReport
    var lsn: UInt64
    /// Nil where a record cannot be read.
    var records: [Record]?
  }

  mutating func run() throws {
    let before = storage.files(in: FuzzedPage.path)
    var verified: VerificationReport?
    let refused = try refusal { verified = try inspector.verify() }
    let hasDamagedSnapshot = verified?.findings.contains { $0.kind == .damagedSnapshot } ?? true
    isTrusted = !isResealed || !hasDamagedSnapshot
    _ = try refusal { _ = try show(.readOnly, policy) }
    var found: Shown?
    if let error = try refusal({ found = try show(.readOnly, .salvage) }) {
      try inspect(afterFailure: error)
      try demand(storage.files(in: FuzzedPage.path) == before, "reading changed a file")
      return try checkRefusal(error, before)
    }
    guard let shown = found else { return }
    try inspect(shown)
    try demand(storage.files(in: FuzzedPage.path) == before, "reading changed a file")
    guard let error = try refusal({ try goOn(from: shown) }) else { return }
    // A table that a newer version wrote is not needed to read all records, and is to write.
    if error.code == .newerVersion, refused?.code == .newerVersion { return }
    try demand(
      error.code == .damaged && (hasDamagedSnapshot || shown.lsn > Limits.writableLSN - 100),
      "going on fails with \(error)")
  }

  private func agree(_ records: [Record]?, _ others: [Record]?, _ what: String) throws {
    if isTrusted {
      try demand(records == others, "\(what): \(records?.count ?? -1) records, not these \(others?.count ?? -1)")
    }
  }

  private func options(_ policy: RecoveryPolicy) -> PageOptions {
    var options = PageOptions()
    options.storage = storage
    options.policy = policy
    options.compaction = .manual
    options.syncAfter = .seconds(100_000)
    options.cacheBytes = 16 << 10
    return options
  }

  private func open(_ mode: OpenMode, _ policy: RecoveryPolicy, at path: String = path) throws -> Page {
    do {
      return try Page(path: path, mode: mode, options: options(policy))
    } catch {
      let known: Set<LogStoreError.Code> = [.notFound, .foreignFile, .newerVersion, .noBase, .wrongState, .damaged]
      try demand(known.contains(error.code), "opening fails with \(error)")
      throw error
    }
  }

  private func show(_ mode: OpenMode, _ policy: RecoveryPolicy, at path: String = path) throws -> Shown {
    let page = try open(mode, policy, at: path)
    let shown = Shown(report: page.report, lsn: page.position.lsn, records: try records(page.view()))
    try page.close()
    return shown
  }

  /// All records, which every way of reading must agree on.
  private func records(_ view: PageView) throws -> [Record]? {
    var records: [Record] = []
    if let error = try refusal({ records = try view.records() }) {
      try demand(error.code == .damaged, "reading fails with \(error)")
      for index in 0..<min(view.count, 64) {
        let error = try refusal { _ = try view.record(at: index) }
        try demand(error?.code ?? .damaged == .damaged, "reading fails with \(String(describing: error))")
      }
      return nil
    }
    try demand(records.count == view.count, "\(view.count) records are counted and \(records.count) read")
    guard isTrusted else { return records }
    for (index, record) in records.enumerated().prefix(64) {
      // What the sweep does not need, the tables, may be damaged.
      let error = try refusal {
        try demand(view.record(at: index) == record, "record \(index) differs")
        try demand(view.index(of: record.key) == index, "record \(index) is found elsewhere")
        try demand(view.value(for: record.key) == record.value, "the value of record \(index) differs")
      }
      try demand(error?.code ?? .damaged == .damaged, "reading fails with \(String(describing: error))")
    }
    return records
  }

  // MARK: Inspection

  private var inspector: PageInspector { PageInspector(path: FuzzedPage.path, storage: storage) }

  private func inspect(_ shown: Shown) throws {
    var found: VerificationReport?
    if let error = try refusal({ found = try inspector.verify() }) {
      // It reads files that opening does not need.
      try demand(error.code == .newerVersion, "verify fails with \(error), and opening does not")
    }
    guard let verified = found else { return }
    try demand(
      verified.recovery.findings == shown.report.findings,
      "verify finds \(verified.recovery.findings), opening \(shown.report.findings)")
    try demand(verified.recovery.position == shown.report.position, "verify and opening are at different positions")
    if shown.records == nil {
      try demand(verified.severity == .damage, "a record is unreadable, and verify is content")
    }
    // As does this.
    let listing = try refusal { try listFrames() }
    try demand(listing?.code ?? .newerVersion == .newerVersion, "listing fails with \(String(describing: listing))")
    _ = try? Page(path: FuzzedPage.path, mode: .readOnly, options: options(.salvage), at: .lsn(shown.lsn / 2)).view()
      .count
    _ = try? Page(path: FuzzedPage.path, mode: .readOnly, options: options(.salvage), at: .time(nanoseconds: 0))
    let copy = try inspector.salvage(to: "/copy", options: options(.salvage))
    guard let records = shown.records, !shown.report.isIncomplete else { return }
    let copied = try show(.readOnly, .strict, at: "/copy")
    try agree(copied.records, records, "salvage copies \(copy.records)")
  }

  private func inspect(afterFailure error: LogStoreError) throws {
    var severity: Finding.Severity?
    if let other = try refusal({ severity = try inspector.verify().severity }) {
      try demand(
        other.code == error.code || error.code == .wrongState, "verify fails with \(other), opening with \(error)")
    } else {
      try demand(
        error.code == .wrongState || error.code == .damaged && severity == .damage,
        "verify accepts what opening refuses with \(error)")
    }
    _ = try refusal { try listFrames() }
    _ = try refusal { _ = try inspector.salvage(to: "/copy", options: options(.salvage)) }
  }

  private func listFrames() throws { try inspector.frames { _ in true } }

  // MARK: Writing

  private func checkRefusal(_ error: LogStoreError, _ before: [String: [UInt8]]) throws {
    // To a writer, a directory without files is a page that is still to be made.
    guard error.code != .notFound else { return }
    guard let other = try refusal({ _ = try open(.readWrite, .salvage) }) else {
      throw Broken("opening for writing accepts what reading refuses with \(error)")
    }
    try demand(other.code == error.code, "opening for writing fails with \(other), for reading with \(error)")
    try demand(storage.files(in: FuzzedPage.path) == before, "a refused opening changed a file")
  }

  private func goOn(from shown: Shown) throws {
    let page = try open(.readWrite, .salvage)
    try demand(page.position.lsn >= shown.lsn, "LSN \(page.position.lsn) after \(shown.lsn)")
    try agree(records(page.view()), shown.records, "opening for writing shows other records")
    try page.put("value", for: "fuzz")
    var expected = shown.records
    if let place = expected?.firstIndex(where: { $0.key == Array("fuzz".utf8) }) {
      expected?[place].value = Array("value".utf8)
    } else {
      expected?.append(Record(key: Array("fuzz".utf8), value: Array("value".utf8)))
    }
    try agree(records(page.view()), expected, "a write shows other records")
    let lsn = page.position.lsn
    try page.close()

    let second = try show(.readWrite, .strict == policy ? .salvage : policy)
    try demand(second.lsn == lsn, "LSN \(second.lsn) after closing at \(lsn)")
    try agree(second.records, expected, "the second opening shows other records")

    let third = try open(.readWrite, .salvage)
    if let error = try refusal({ _ = try third.compact(keep: Retention.none) }) {
      try demand(error.code == .damaged && expected == nil, "compacting fails with \(error)")
      return try third.close()
    }
    try agree(records(third.view()), expected, "compacting shows other records")
    try third.close()
    let last = try show(.readOnly, .strict)
    try demand(last.lsn == lsn, "compacting moves the LSN to \(last.lsn)")
    try agree(last.records, expected, "after compacting there are other records")
    // What is not needed any more, and not the page's to remove, may still be damaged.
    let findings = try inspector.verify().recovery.findings.filter {
      $0.severity == .damage && $0.kind != .recordedLoss
    }
    try demand(findings.isEmpty, "after compacting, verify finds \(findings)")
  }
}
