/// How a writer goes on behind what a recovery found (SPEC.md, section 8).
struct WriterPlan {
  let result: Recovery.Result
  let chain: Chain

  init(_ result: Recovery.Result, _ chain: Chain) {
    self.result = result
    self.chain = chain
  }

  /// The writer: in the newest journal where that may be appended to, otherwise at the start of a new one.
  func writer(
    _ directory: any StorageDirectory, _ options: PageOptions, _ state: UInt32, _ level: Durability
  ) throws(LogStoreError) -> LogWriter {
    if result.mayAppend, let newest = result.journals.last, let writable = try reopen(newest, directory) {
      return LogWriter(
        appendingTo: writable, end: writable.status.size, lsn: result.lsn, directory: directory,
        storage: options.storage, level: level)
    }
    let start = try start()
    let id =
      chain.id.flatMap { $0 == PageID(high: 0, low: 0) ? nil : $0 }
      ?? PageID(high: options.storage.random(), low: options.storage.random()).markedRandom
    return LogWriter(
      starting: start, lsn: result.lsn, id: id, state: state, directory: directory, storage: options.storage,
      level: level)
  }

  /// The newest journal, open for writing; nil where the system lets us only read it.
  private func reopen(_ journal: JournalFile, _ directory: any StorageDirectory) throws(LogStoreError) -> JournalFile? {
    let file: any StorageFile
    do {
      file = try directory.open(journal.name, .readWrite)
    } catch  where error.isUnavailable {
      return nil
    } catch {
      throw LogStoreError(error)
    }
    let status = try mapped { () throws(StorageError) in try file.status() }
    guard status.inode == journal.status.inode, status.size == journal.status.size else {
      file.close()
      throw LogStoreError(
        .storeReplaced, "a file was replaced while the page was opened; try again", path: journal.path)
    }
    return JournalFile(name: journal.name, path: journal.path, file: file, header: journal.header, status: status)
  }

  private func start() throws(LogStoreError) -> JournalStart {
    // A journal cut off inside its header holds nothing that could be gone on behind.
    let place = result.journals.lastIndex { $0.status.size >= UInt64(Limits.headerBytes) }
    guard let place else {
      return JournalStart(
        predecessor: chain.base.map {
          .init(generation: $0.header.generation, salt: $0.header.journalSalt, end: 0)
        }, baseLSN: result.lsn, losses: try losses(keeping: []))
    }
    let (newest, outcome) = (result.journals[place], result.outcomes[place])
    var start = JournalStart(
      predecessor: nil, baseLSN: result.lsn, losses: try losses(keeping: result.journals[...place]),
      quarantine: result.quarantine)
    // In front of damage, or where a successor begins: what follows is not the state.
    if outcome.stoppedAtDamage || outcome.stoppedBySink || place < result.journals.count - 1 {
      start.predecessor = .init(generation: newest.generation, salt: newest.header.salt, end: outcome.good)
      return start
    }
    let end = try boundary(min(outcome.durableEnd, newest.status.size), newest, outcome)
    // What stands behind E: whole batches, but for a dropped range that reaches over E.
    let first = max(end, outcome.dropped.map(\.range.upperBound).filter { $0 > end }.max() ?? end)
    // Marks alone are nothing to carry.
    let operations = first < outcome.good ? try operations(newest, first..<outcome.good) : 0
    if operations > 0 {
      start.carried = [.file(newest, first..<outcome.good)]
      // A mark among them may have given any LSN.
      start.baseLSN = result.lsn.subtractingCapped(operations)
    }
    start.predecessor = .init(
      generation: newest.generation, salt: newest.header.salt, end: max(end, UInt64(Limits.headerBytes)))
    return start
  }

  /// The losses that the new journal has to name: those of this recovery, and those that only a journal names which is
  /// cut off from now on.
  private func losses(keeping journals: ArraySlice<JournalFile>) throws(LogStoreError) -> [LossRecord] {
    let known = Set(try RecordedLosses.all(handedDown: chain.base?.losses() ?? [], Array(journals)))
    return result.losses.filter { !known.contains($0) } + result.newLosses
  }

  /// `place`, or the beginning of the batch around it: what a mark or header names need not be where a batch ends.
  private func boundary(
    _ place: UInt64, _ journal: JournalFile, _ outcome: JournalOutcome
  ) throws(LogStoreError) -> UInt64 {
    let place = max(place, UInt64(Limits.headerBytes))
    guard place < outcome.good else { return place }
    let reader = journal.reader(limit: outcome.good)
    if let frame = try reader.frame(at: place), frame.type.isFirst { return place }
    let losses = LossesByJournal(result.losses).naming(journal)
    var gaps = outcome.dropped.map(\.range) + losses.map { $0.start..<$0.end }
    gaps.sort { $0.lowerBound < $1.lowerBound }
    if gaps.contains(where: { $0.contains(place) }) { return place }
    var next = UInt64(Limits.headerBytes)
    var start = next
    var ahead = gaps[0...]
    while next < place {
      while let gap = ahead.first, gap.upperBound <= next { ahead.removeFirst() }
      if let gap = ahead.first, gap.lowerBound <= next {
        next = gap.upperBound
        start = next
      } else {
        let frame = try reader.frame(againAt: next)
        if frame.type.isFirst { start = next }
        next = frame.end
      }
    }
    return start
  }

  private func operations(_ journal: JournalFile, _ range: Range<UInt64>) throws(LogStoreError) -> UInt64 {
    let reader = journal.reader(from: range.lowerBound, limit: range.upperBound)
    var place = range.lowerBound
    var count: UInt64 = 0
    while place < range.upperBound {
      let frame = try reader.frame(againAt: place)
      if frame.kind.isOperation { count += 1 }
      place = frame.end
    }
    return count
  }
}
