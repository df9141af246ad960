/// Going from journal to journal.
extension LogWriter {
  /// The same process goes on behind its own close mark. Others may have had the page in between.
  func reopened() {
    guard let journal else { return }
    place = .closed(journal)
    durable.withLock { $0 = .closed(at: end, lsn: lsn) }
  }

  /// The journal that is appended to, started where it has to be. Where that fails before the new name stands, nothing has
  /// changed.
  @inline(__always)
  @discardableResult
  func startIfPending() throws(LogStoreError) -> JournalFile {
    switch place {
    case .journal(let journal): journal
    case .closed(let journal): try goOn(in: journal)
    case .pending(let start): try startJournal(start)
    }
  }

  /// Says behind the close mark, durably, that a session goes on there, before anything else is written.
  ///
  /// If its first batch were all that stands there and were lost without a trace, the file would look closed again; the
  /// next session would write at the same place with the same salt, and a crash in that could bring the lost batch back.
  func goOn(in journal: JournalFile) throws(LogStoreError) -> JournalFile {
    try writeCloseMarkAgain(in: journal)
    place = .journal(journal)
    durable.withLock { $0.generation = journal.generation }
    try writeMark(closed: false)
    // Without room for the mark, the journal's life is over.
    return try startIfPending()
  }

  /// The close mark may stand in the cache alone: of the sync that failed when it was written, only the process was told
  /// that had the page then. The same bytes, written again, are synced together with what comes behind them; without them
  /// there would be a hole in front of what is acknowledged from now on.
  func writeCloseMarkAgain(in journal: JournalFile) throws(LogStoreError) {
    try checkUsable()
    let place = end - UInt64(Mark.frameBytes)
    let mark = ByteBuffer(capacity: Mark.frameBytes)
    do throws(StorageError) {
      guard try journal.file.read(appendingTo: mark, count: Mark.frameBytes, at: place) == Mark.frameBytes else {
        throw StorageError(.read, errno: StorageError.inputOutput, path: journal.path)
      }
      try journal.file.write(mark, 0..<mark.count, at: place)
    } catch {
      throw LogStoreError(error, offset: place)
    }
  }

  func startJournal(_ start: JournalStart) throws(LogStoreError) -> JournalFile {
    mayBeNamed = false
    let starter = JournalStarter(directory: directory, storage: storage, id: id, state: state, level: level)
    let started: JournalStarter.Started
    do {
      started = try starter.start(start)
    } catch {
      if error.afterRename {
        let failure = outcomeUnknown(error.storage, "a directory sync failed after a new journal got its name")
        setPoison(failure)
        throw failure
      }
      mayBeNamed = error.mayBeNamed
      throw error.error
    }
    isClosedAtEnd = false
    place = .journal(started.journal)
    end = started.end
    lsn = start.baseLSN + started.operations
    carriedLSN = lsn
    tail.restart(at: end)
    poison = nil
    durable.withLock {
      $0 = Durable(generation: started.journal.generation, end: started.end, lsn: lsn)
    }
    return started.journal
  }

  /// Ends the present journal, all of which is made durable, and starts the next: where compaction begins. A closed one
  /// ends in front of its close mark.
  func switchJournal() throws(LogStoreError) -> JournalFile {
    try syncAll()
    guard let old = journal else { return try startIfPending() }
    let before = (place, end)
    retire(old, at: durable.end)
    do {
      return try startIfPending()
    } catch {
      // Nothing of the new one stands: writers go on in the old one.
      if poison == nil, !mayBeNamed { (place, end) = before }
      throw error
    }
  }

  /// The way out of a failed sync: a new journal, from the last durable end, with everything since from memory.
  func recover() throws(LogStoreError) {
    if poison?.code == .storeReplaced, let poison { throw poison }
    if let journal {
      let known = durable.withLock { $0 }
      place = .pending(
        JournalStart(
          predecessor: .init(generation: journal.generation, salt: journal.header.salt, end: known.end),
          baseLSN: known.lsn, carried: tail.carried(from: known.end), endsDoubt: true))
    }
    poison = nil
    durable.withLock { $0.failure = nil }
    try startIfPending()
  }
}
