/// What opening a page makes: the log as it is committed, the state in memory, and for a writer the way on.
struct PageSession<Model: PageModel> {
  let directory: any StorageDirectory
  let writer: LogWriter?
  let log: LogSegments
  let materialized: Materialized<Model>
  let report: RecoveryReport
  let losses: [LossRecord]
  /// Bytes that are to be set aside before their journals go.
  let quarantine: [QuarantineRange]
  let durability: Durability
  let id: PageID?
}

/// Opens a page.
struct PageOpener {
  let path: String
  let mode: OpenMode
  let options: PageOptions
  var until = Moment.now
  /// Runs over damage of a snapshot that was opened before.
  var onHeal: (@Sendable (LogStoreError, Range<UInt64>?) -> Void)?

  private static let attempts = 16

  func open<Model: PageModel>(_ model: Model) throws(LogStoreError) -> PageSession<Model> {
    let directory = try openDirectory()
    do throws(LogStoreError) {
      if mode == .readOnly { return try openForReading(directory, model) }
      return try openForWriting(directory, model)
    } catch {
      directory.close()
      throw error
    }
  }

  func openDirectory() throws(LogStoreError) -> any StorageDirectory {
    if mode == .create, !exists {
      // Before anything is made that would have to be removed again.
      try refuseNesting(in: parentPath)
    }
    do {
      return try options.storage.openDirectory(path, create: mode == .create)
    } catch {
      switch error.errno {
      case StorageError.notFound where mode == .create:
        throw LogStoreError(
          .cannotCreate, "the directory that should hold the page does not exist; create it first", path: path,
          errno: error.errno, cause: error)
      case StorageError.notFound:
        // What is not UTF-8 in a name is shown so, and cannot be opened under the name that is shown.
        let message =
          path.unicodeScalars.contains("\u{FFFD}")
          ? "there is no page here; where its name is not UTF-8, rename it" : "there is no page here"
        throw LogStoreError(.notFound, message, path: path, errno: error.errno, cause: error)
      case StorageError.notDirectory, StorageError.exists:
        throw LogStoreError(
          .foreignFile, "a page is a directory, and this is not one", path: path, errno: error.errno, cause: error)
      default:
        let mapped = LogStoreError(error)
        if mode == .create, error.operation == .createDirectory {
          throw LogStoreError(.cannotCreate, mapped.message, path: path, errno: error.errno, cause: error)
        }
        throw mapped
      }
    }
  }

  private var exists: Bool {
    do {
      try options.storage.openDirectory(path, create: false).close()
      return true
    } catch {
      return error.errno != StorageError.notFound
    }
  }

  /// The path without its last part.
  private var parentPath: String {
    var rest = path[...]
    while rest.hasSuffix("/") { rest.removeLast() }
    while let last = rest.last, last != "/" { rest.removeLast() }
    return rest.isEmpty ? "." : String(rest)
  }

  // MARK: Reading

  private func openForReading<Model: PageModel>(
    _ directory: any StorageDirectory, _ model: Model
  ) throws(LogStoreError) -> PageSession<Model> {
    var attempt = 1
    while true {
      let files = try pageFiles(directory)
      do throws(LogStoreError) {
        var finder = ChainFinder(files, until: until)
        guard let chain = try finder.find() else {
          throw LogStoreError.noFiles(path)
        }
        // A file that went while the list was read is no gap: somebody compacts.
        if chain.isIncomplete, attempt < PageOpener.attempts, try hasChanged(files) {
          attempt += 1
          continue
        }
        return try session(directory, files, chain, model, forWriting: false)
      } catch {
        guard attempt < PageOpener.attempts, error.code != .cancelled, try hasChanged(files) else { throw error }
        attempt += 1
      }
    }
  }

  private func pageFiles(_ directory: any StorageDirectory) throws(LogStoreError) -> PageFiles {
    let files = try PageFiles(directory, cacheBytes: options.cacheBytes, startHelper: options.startHelper)
    files.goesOn = options.onProgress.map { progress in
      { progress(Progress(.replaying, completedBytes: 0, totalBytes: nil)) }
    }
    return files
  }

  private func hasChanged(_ files: PageFiles) throws(LogStoreError) -> Bool {
    try PageListing(mapped { () throws(StorageError) in try files.directory.list() }) != files.listing
  }

  // MARK: Writing

  private func openForWriting<Model: PageModel>(
    _ directory: any StorageDirectory, _ model: Model
  ) throws(LogStoreError) -> PageSession<Model> {
    let isLocal = try mapped { () throws(StorageError) in try directory.isLocal() }
    guard isLocal || options.allowsNetworkFileSystems else {
      throw LogStoreError(
        .unsupported,
        "the page lies on a network file system, where its lock excludes nobody; set allowsNetworkFileSystems if no other machine writes",
        path: path)
    }
    guard try mapped({ () throws(StorageError) in try directory.lock() }) else {
      throw LogStoreError(.locked, "another writer has the page open; close it there, or open read-only", path: path)
    }
    let files = try pageFiles(directory)
    var finder = ChainFinder(files, until: .now)
    guard let chain = try finder.find() else {
      guard mode == .create else {
        throw LogStoreError.noFiles(path)
      }
      return try create(directory, files, model)
    }
    let level = try settle(files, chain)
    return try session(directory, files, chain, model, forWriting: true, level)
  }

  /// Makes sure that what is about to be trusted lasts: names and contents that an earlier process may have left in the cache,
  /// and those of a copy, of which the marks know nothing.
  private func settle(_ files: PageFiles, _ chain: Chain) throws(LogStoreError) -> Durability {
    let level = try level { (level) throws(StorageError) in try files.directory.sync(level) }
    try mapped { () throws(StorageError) in
      for journal in chain.journals { try journal.file.sync(level) }
      try chain.base?.source.file.sync(level)
    }
    // Whoever made the page, or this copy of it, may have been killed before its own name was durable.
    if files.listing.journals.contains(0) || chain.journals.last?.isOriginal != true {
      do {
        try files.directory.syncParent(level)
      } catch  where error.isUnavailable {
        // Nobody makes a page where the parent cannot be read: it was put there, not created.
      } catch {
        throw LogStoreError(error)
      }
    }
    return level
  }

  /// What interrupted operations left behind; only once the page is known to be one that this version may write.
  private func removeTemporaries(_ files: PageFiles) {
    for name in files.listing.temporaries {
      // Best effort: the next writer tries again.
      do { try files.directory.remove(name) } catch {}
    }
  }

  /// The strongest level that works here, down to what the options accept.
  private func level(_ probe: (Durability) throws(StorageError) -> Void) throws(LogStoreError) -> Durability {
    do {
      try probe(.power)
      return .power
    } catch  where error.isUnsupported && options.acceptsWeakerDurability {
      do {
        try probe(.ordered)
        return .ordered
      } catch  where error.isUnsupported {
        return .process
      } catch {
        throw LogStoreError(error)
      }
    } catch {
      throw LogStoreError(error)
    }
  }

  private func create<Model: PageModel>(
    _ directory: any StorageDirectory, _ files: PageFiles, _ model: Model
  ) throws(LogStoreError) -> PageSession<Model> {
    // What a desktop leaves in every folder it shows is no reason to refuse.
    let others = files.listing.strangers.filter { !$0.hasPrefix(".") }
    guard others.isEmpty else {
      throw LogStoreError(
        .foreignFile,
        "the directory holds other files (\(others[0])) and no page; choose an empty or a new one",
        path: path)
    }
    try refuseNesting(in: path + "/..")
    let level = try level { (level) throws(StorageError) in try directory.sync(level) }
    for name in files.listing.temporaries { try mapped { () throws(StorageError) in try directory.remove(name) } }
    let id = PageID(high: options.storage.random(), low: options.storage.random()).markedRandom
    let writer = LogWriter(
      starting: JournalStart(predecessor: nil, baseLSN: 0), lsn: 0, id: id, state: model.state, directory: directory,
      storage: options.storage, level: level)
    do throws(LogStoreError) {
      try writer.startIfPending()
    } catch {
      throw LogStoreError(
        error.code == .noSpace || error.code == .unavailable ? .cannotCreate : error.code,
        "the page cannot be created: \(error.message)", path: path, errno: error.errno, cause: error)
    }
    var log = LogSegments()
    if let journal = writer.journal {
      log.segments = [.init(journal: journal, end: writer.end, lsn: 0, carriedLSN: 0)]
    }
    try model.rebase(onto: nil)
    var report = RecoveryReport()
    report.position = log.position
    report.journalGeneration = 0
    return PageSession(
      directory: directory, writer: writer, log: log,
      materialized: Materialized(model, base: nil, files: [], taken: 0, position: log.position), report: report,
      losses: [], quarantine: [], durability: level, id: id)
  }

  /// A page inside a page would be copied, synced and removed with it, and be a stranger there.
  private func refuseNesting(in parentPath: String) throws(LogStoreError) {
    let parent: any StorageDirectory
    do {
      parent = try options.storage.openDirectory(parentPath, create: false)
    } catch {
      return
    }
    defer { parent.close() }
    let listing = PageListing(try mapped { () throws(StorageError) in try parent.list() })
    guard listing.highest == nil else {
      throw LogStoreError(.nestedPage, "the directory lies inside another page; choose a place beside it", path: path)
    }
  }

  // MARK: Both

  private func session<Model: PageModel>(
    _ directory: any StorageDirectory, _ files: PageFiles, _ chain: Chain, _ model: Model, forWriting: Bool,
    _ level: Durability = .power
  ) throws(LogStoreError) -> PageSession<Model> {
    let policy = options.policy ?? (model.state == 0 ? .salvage : .pointInTime)
    let recovery = Recovery(chain: chain, policy: policy, until: until, progress: options.onProgress)
    let base = Healer(path: path, options: options).base(chain.base, onHeal: onHeal)
    let result = try recovery.run(model, from: base)
    try checkReached(result)
    guard !forWriting || result.lsn <= Limits.writableLSN else {
      throw LogStoreError(
        .damaged,
        "the page claims more operations than any page has had; copy what is readable with "
          + "`logctl salvage PAGE -o NEW`", path: path, lsn: result.lsn)
    }
    if forWriting { removeTemporaries(files) }
    var log = LogSegments()
    log.baseLSN = chain.base?.header.lsn ?? chain.journals.first?.header.baseLSN ?? 0
    log.baseSalt = chain.base?.header.journalSalt ?? 0
    log.baseBytes = chain.base?.size ?? 0
    for (journal, outcome) in zip(result.journals, result.outcomes) {
      let skips = (result.losses + result.newLosses).filter {
        $0.generation == journal.generation && $0.salt == journal.header.salt
      }
      log.segments.append(
        .init(
          journal: journal, end: outcome.good, lsn: outcome.lsn, carriedLSN: outcome.initialLSN,
          skips: skips.sorted { $0.start < $1.start }))
    }
    var journals = result.journals
    let writer = forWriting ? try writer(result, chain, directory, model.state, level) : nil
    if let writable = writer?.journal, let last = journals.indices.last,
      journals[last].generation == writable.generation
    {
      // One object for writing and reading, so that readers see what a failed sync takes from the file.
      journals[last] = writable
      log.segments[last].journal = writable
    }
    if let writer { log.follow(writer) }
    return PageSession(
      directory: directory, writer: writer, log: log,
      materialized: Materialized(
        model, base: base, files: journals, taken: result.outcomes.last?.good ?? UInt64(Limits.headerBytes),
        position: Position(salt: result.report.position.salt, lsn: result.lsn)),
      report: result.report, losses: result.losses + result.newLosses, quarantine: result.quarantine, durability: level,
      id: writer?.id ?? chain.id)
  }
}

extension PageOpener {
  /// The writer, with its new journal where something must survive in one; without room for it that waits for the first write.
  private func writer(
    _ result: Recovery.Result, _ chain: Chain, _ directory: any StorageDirectory, _ state: UInt32, _ level: Durability
  ) throws(LogStoreError) -> LogWriter {
    let writer = try WriterPlan(result, chain).writer(directory, options, state, level)
    guard let start = writer.pending else { return writer }
    let mustStart =
      !start.carried.isEmpty || !start.losses.isEmpty || result.report.isIncomplete
      || result.outcomes.last?.stoppedAtDamage == true
    guard mustStart else { return writer }
    do throws(LogStoreError) {
      try writer.startIfPending()
    } catch {
      guard error.code == .noSpace else { throw error }
    }
    return writer
  }

  /// A moment that the log does not reach is an error, not the present.
  private func checkReached(_ result: Recovery.Result) throws(LogStoreError) {
    guard case .lsn(let wanted) = until, wanted > result.lsn, !result.outcomes.contains(where: \.stoppedBySink) else {
      return
    }
    throw LogStoreError(.notKept, "the page ends at LSN \(result.lsn), before \(wanted)", path: path, lsn: result.lsn)
  }
}

extension PageID {
  /// With the bits that say "random" in a UUID.
  var markedRandom: PageID {
    PageID(high: high & ~0xF000 | 0x4000, low: low & ~(0b11 << 62) | (0b10 << 62))
  }
}
