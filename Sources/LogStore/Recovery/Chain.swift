/// What a page's state is made of: a base, and the journals behind it, oldest first.
struct Chain {
  /// Nil: an empty table.
  var base: SnapshotReader?
  var journals: [JournalFile]
  /// What keeps the newest files from being part of it.
  var findings: [Finding] = []
  /// Whether the state ends before a gap.
  var isIncomplete = false
  /// Journals of the page behind its end that cannot be applied.
  var cutOff: [CutOffJournal] = []

  var id: PageID? { journals.last?.header.id ?? base?.header.id }
}

/// Finds the chain, by the rules of SPEC.md, section 6.
struct ChainFinder {
  let files: PageFiles
  private var findings: [Finding] = []
  /// Findings that stand in the way of every chain, named once.
  private var judged: Set<String> = []
  private var isDamagedInside = false
  /// The page's identity: that of the highest journal, or else snapshot, that has one.
  private(set) var id: PageID?
  private var rebuilder: HeaderRebuilder?

  /// Snapshots later than this moment are no base.
  let until: Moment
  /// A snapshot that is passed over because it is damaged inside.
  let ignored: UInt64?

  init(_ files: PageFiles, until: Moment, ignoring ignored: UInt64? = nil) {
    self.files = files
    self.until = until
    self.ignored = ignored
  }

  /// The chain; nil for an empty page.
  mutating func find() throws(LogStoreError) -> Chain? {
    guard !files.listing.isEmptyPage else { return nil }
    let descending = files.listing.descending
    id = try identity()
    for (place, generation) in descending.enumerated() {
      guard var chain = try chain(from: generation) else { continue }
      chain.findings = findings
      var successors: [UInt64: JournalHeader] = [:]
      for higher in descending[..<place] {
        chain.isIncomplete = try cutOff(higher, before: &successors, by: &chain) || chain.isIncomplete
      }
      chain.noteMissing(before: successors)
      return chain
    }
    if until != .now {
      throw LogStoreError(.notKept, "the page's files do not reach back that far", path: files.directory.path)
    }
    throw try noChain(descending)
  }

  private mutating func chain(from start: UInt64) throws(LogStoreError) -> Chain? {
    let candidate = try journal(start)
    if !isPresent(candidate) {
      // A directory with a number of its own is looked for by nothing.
      if case .notAFile = try snapshot(start) { return nil }
      guard let snapshot = try usableSnapshot(start), isEarlyEnough(snapshot) else { return nil }
      if case .notAFile = candidate { throw notAFile(PageFile.journal(start).name) }
      missing(
        .journal(start),
        "the journal of the newest snapshot is missing: what was written behind the snapshot is not there")
      let lost = CutOffJournal(generation: start, salt: snapshot.header.journalSalt, end: .max)
      return Chain(base: snapshot, journals: [], isIncomplete: true, cutOff: [lost])
    }
    guard let newest = try usableJournal(start) else { return nil }
    var journals = [newest]
    while true {
      let oldest = journals[0]
      if oldest.generation != ignored, let snapshot = try usableSnapshot(oldest.generation),
        belongs(snapshot, to: oldest),
        isEarlyEnough(snapshot)
      {
        return Chain(base: snapshot, journals: journals)
      }
      guard let predecessor = oldest.header.predecessor else {
        if case .time(let latest) = until, latest < oldest.header.time { return nil }
        return Chain(base: nil, journals: journals)
      }
      if predecessor.end == 0 {
        guard predecessor.generation < oldest.generation, let snapshot = try usableSnapshot(predecessor.generation),
          isEarlyEnough(snapshot),
          snapshot.header.journalSalt == predecessor.salt, snapshot.header.id == oldest.header.id
        else { return nil }
        return Chain(base: snapshot, journals: journals)
      }
      guard let previous = try usableJournal(predecessor.generation) else {
        if case .absent = try journal(predecessor.generation) {
          missing(.journal(predecessor.generation), "a journal between others is missing")
        }
        return nil
      }
      guard previous.header.salt == predecessor.salt, previous.header.id == oldest.header.id else {
        missing(.journal(predecessor.generation), "a journal between others is another one than the next follows")
        return nil
      }
      journals.insert(previous, at: 0)
    }
  }

  private func identity() throws(LogStoreError) -> PageID? {
    for generation in files.listing.journals.reversed() {
      if let journal = try files.journal(generation).file { return journal.header.id }
    }
    for generation in files.listing.snapshots.reversed() {
      if let snapshot = try files.snapshot(generation).file { return snapshot.header.id }
    }
    // What a header says that is whole and yet impossible: a writer that goes on keeps to it.
    for generation in files.listing.journals.reversed() {
      if case .damaged(let damage) = try files.journal(generation), let id = damage.id { return id }
    }
    for generation in files.listing.snapshots.reversed() {
      if case .damaged(let damage) = try files.snapshot(generation), let id = damage.id { return id }
    }
    return nil
  }

  private func isOurs(_ other: PageID) -> Bool { id == nil || other == id }

  /// Journal `generation`; a file of another page is none.
  func journal(_ generation: UInt64) throws(LogStoreError) -> PageFiles.Candidate<JournalFile> {
    let found = try files.journal(generation)
    let id = owner(found) { $0.header.id }
    return id.map(isOurs) ?? true ? found : .absent
  }

  /// Snapshot `generation`, likewise.
  func snapshot(_ generation: UInt64) throws(LogStoreError) -> PageFiles.Candidate<SnapshotReader> {
    let found = try files.snapshot(generation)
    let id = owner(found) { $0.header.id }
    return id.map(isOurs) ?? true ? found : .absent
  }

  /// The page that a file says it is of.
  private func owner<File>(_ candidate: PageFiles.Candidate<File>, _ id: (File) -> PageID) -> PageID? {
    switch candidate {
    case .usable(let file): id(file)
    case .damaged(let damage): damage.id
    case .absent, .notAFile: nil
    }
  }

  private func isEarlyEnough(_ snapshot: SnapshotReader) -> Bool {
    switch until {
    case .now: true
    case .lsn(let last): snapshot.header.lsn <= last
    case .time(let latest): snapshot.header.time <= latest
    }
  }

  private func belongs(_ snapshot: SnapshotReader, to journal: JournalFile) -> Bool {
    snapshot.header.journalSalt == journal.header.salt && snapshot.header.id == journal.header.id
  }

  private mutating func usableSnapshot(_ generation: UInt64) throws(LogStoreError) -> SnapshotReader? {
    switch try snapshot(generation) {
    case .usable(let snapshot):
      do throws(LogStoreError) {
        _ = try snapshot.losses()
        return snapshot
      } catch {
        // What it says of earlier losses cannot be read, so it cannot be trusted with the rest.
        guard error.code == .damaged, let offset = error.offset else { throw error }
        isDamagedInside = true
        passOver(snapshot.name, try snapshot.damagedRange(at: offset), error)
        return nil
      }
    case .absent: return nil
    case .notAFile: throw notAFile(PageFile.snapshot(generation).name)
    case .damaged(let damage):
      passOver(PageFile.snapshot(generation).name, suspect(damage.error, damage.size), damage.error)
      return nil
    }
  }

  private mutating func passOver(_ name: String, _ range: Range<UInt64>, _ error: LogStoreError) {
    guard judged.insert(name).inserted else { return }
    findings.append(
      Finding(
        .damagedSnapshot, .damage, file: name, range: range, detail: error.fault,
        remedy: "logctl compact PAGE"))
  }

  /// The part of a snapshot that does not verify: its header, or its footer.
  private func suspect(_ error: LogStoreError, _ size: UInt64) -> Range<UInt64> {
    let header = UInt64(Limits.headerBytes)
    guard let offset = error.offset, offset >= header, size >= UInt64(SnapshotLayout.footerFrameBytes) else {
      return 0..<header
    }
    return max(header, size - UInt64(SnapshotLayout.footerFrameBytes))..<max(header, size)
  }

  private mutating func usableJournal(_ generation: UInt64) throws(LogStoreError) -> JournalFile? {
    switch try journal(generation) {
    case .usable(let journal): return journal
    case .absent: return nil
    case .notAFile: throw notAFile(PageFile.journal(generation).name)
    case .damaged:
      let name = PageFile.journal(generation).name
      let rebuilt = try rebuild(generation)
      if judged.insert(name).inserted {
        findings.append(
          Finding(
            .damagedHeader, .damage, file: name, range: 0..<UInt64(Limits.headerBytes),
            detail: rebuilt == nil
              ? "the journal's header does not verify, and nothing says what it was"
              : "the journal's header does not verify; it was put together from what other places say of it",
            remedy: "logctl compact PAGE"))
      }
      if let rebuilt { files.adopt(rebuilt) }
      return rebuilt
    }
  }

  private mutating func rebuild(_ generation: UInt64) throws(LogStoreError) -> JournalFile? {
    let rebuilder = rebuilder ?? HeaderRebuilder(files, id: id)
    self.rebuilder = rebuilder
    return try rebuilder.rebuild(generation)
  }

  private mutating func missing(_ file: PageFile, _ detail: String) {
    guard judged.insert(file.name).inserted else { return }
    findings.append(
      Finding(
        .missing, .damage, file: file.name, detail: detail,
        remedy: "look for a complete copy of PAGE; otherwise go on with what there is"))
  }

  /// Says what a file above the chain's newest generation is. Returns whether it is a part of the page that is cut off.
  ///
  /// - Parameter successors: the higher journals that are cut off, by the generation whose log they go on with.
  private func cutOff(
    _ generation: UInt64, before successors: inout [UInt64: JournalHeader], by chain: inout Chain
  ) throws(LogStoreError) -> Bool {
    var found = false
    let name = PageFile.journal(generation).name
    switch try files.journal(generation) {
    case .usable(let journal):
      found = isCutOff(name, journal.header.id, &chain)
      if found {
        let successor = successors[generation].flatMap { $0.follows(journal.header) ? $0 : nil }
        chain.cutOff.append(CutOffJournal(journal, before: successor))
        if let predecessor = journal.header.predecessor, predecessor.end != 0, successors[predecessor.generation] == nil
        {
          successors[predecessor.generation] = journal.header
        }
      }
    case .damaged(let damage):
      found = isCutOff(name, damage.id, &chain)
      if found { chain.cutOff.append(CutOffJournal(generation, size: damage.size)) }
    case .notAFile:
      chain.findings.append(
        Finding(.stranger, .note, file: name, detail: "a directory or a link has the name of a journal"))
    case .absent: break
    }
    switch try files.snapshot(generation) {
    case .usable(let snapshot): if isCutOff(snapshot.name, snapshot.header.id, &chain) { found = true }
    case .damaged(let damage):
      if isCutOff(PageFile.snapshot(generation).name, damage.id, &chain) { found = true }
    case .notAFile:
      chain.findings.append(
        Finding(
          .stranger, .note, file: PageFile.snapshot(generation).name,
          detail: "a directory or a link has the name of a snapshot"))
    case .absent: break
    }
    return found
  }

  /// Says of a file, whose identity is known or not, that it is cut off, or that it is another page's.
  private func isCutOff(_ name: String, _ id: PageID?, _ chain: inout Chain) -> Bool {
    if let id, !isOurs(id) {
      chain.findings.append(Finding(.stranger, .note, file: name, detail: "the file belongs to page \(id)"))
      return false
    }
    chain.findings.append(
      Finding(
        .cutOff, .damage, file: name,
        detail: "what stands before this file is missing, so that it cannot be applied",
        remedy: "look for a complete copy of PAGE; otherwise go on with what there is"))
    return true
  }

  private func isPresent<File>(_ candidate: PageFiles.Candidate<File>) -> Bool {
    switch candidate {
    case .absent, .notAFile: false
    case .usable, .damaged: true
    }
  }

  private func notAFile(_ name: String) -> LogStoreError {
    LogStoreError(
      .foreignFile, "something that is no file has the name of one of the page's; move it out of the page's directory",
      path: files.path(name))
  }

  /// Why there is no chain at all.
  private mutating func noChain(_ descending: [UInt64]) throws(LogStoreError) -> LogStoreError {
    search: for top in descending {
      switch try journal(top) {
      case .notAFile: return notAFile(PageFile.journal(top).name)
      case .damaged(let damage) where !damage.hasMagic: return damage.error
      case .usable, .damaged: break search
      case .absent: break
      }
      switch try snapshot(top) {
      case .notAFile: return notAFile(PageFile.snapshot(top).name)
      case .damaged(let damage) where !damage.hasMagic: return damage.error
      case .usable, .damaged: break search
      // Only strangers have this number.
      case .absent: break
      }
    }
    let seen = findings.map { "\($0.file): \($0.detail)" }.joined(separator: "; ")
    return LogStoreError(
      isDamagedInside ? .damaged : .noBase,
      "no snapshot and no first journal is left to start from\(seen.isEmpty ? "" : " (\(seen))"); "
        + "look for a complete copy, or use `logctl salvage PAGE -o NEW`", path: files.directory.path)
  }
}

extension ChainFinder {
  /// The chain that leads to the moment at which journal `generation` was started, without the snapshot taken then.
  /// The journal itself, which ends it, comes along.
  mutating func findBehind(_ generation: UInt64) throws(LogStoreError) -> (chain: Chain, successor: JournalFile)? {
    id = try identity()
    guard var chain = try chain(from: generation), let successor = chain.journals.popLast() else { return nil }
    return (chain, successor)
  }
}
