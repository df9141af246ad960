/// A group of batches, which is written with one call: put together, written, and what becomes of it without room.
extension LogWriter {
  /// Makes ready for a group: a journal to write into, which it returns, and a mark where one is due.
  func beginGroup() throws(LogStoreError) -> JournalFile {
    let journal = try usableJournal()
    _ = begin(journal)
    return journal
  }

  /// The journal for the next group; the writer is usable then.
  @inline(__always)
  func usableJournal() throws(LogStoreError) -> JournalFile {
    try checkUsable()
    return try startIfPending()
  }

  /// Makes ready for a group in what `usableJournal` has given. Returns where the group is put together.
  //
  // This, `stage` and `commit` are given the objects that they use: each look-up of one in the writer would count a
  // reference up and down, and those counts are most of what a small write costs beside its system call.
  @inline(__always)
  func begin(_ journal: JournalFile) -> UnsyncedTail.Segment {
    let awaitsMark = durable.awaitsMark
    let durableEnd = durable.end
    let current = tail.beginGroup(at: end, durableEnd: durableEnd)
    groupStart = current.bytes.count
    staged.removeAll()
    now = storage.monotonicClock()
    hasMark = awaitsMark || now - lastMarkTime >= LogWriter.markInterval
    if hasMark {
      lastMarkTime = now
      appendMark(journal, durableEnd: durableEnd, closed: false)
    }
    return current
  }

  /// A group of one batch, in the journal that `usableJournal` has given.
  func commitAlone(_ batch: BatchFrames, _ wanted: Durability, in journal: JournalFile) -> GroupResult {
    let current = begin(journal)
    stage(batch, journal, current)
    return commit(journal, current, wanted)
  }

  /// A group of one put, whose value fits one frame.
  @inline(__always)
  func commitAlone(
    _ value: RawSpan, for key: RawSpan, _ wanted: Durability, in journal: JournalFile
  ) -> GroupResult {
    let current = begin(journal)
    let bytes = current.bytes
    let frame = bytes.appendPut(value, for: key)
    bytes.sealFrame(frame, FrameType(.put), offset: current.offset &+ UInt64(frame), codec: journal.codec)
    staged.append(place: bytes.count, lsn: stagedLSN &+ 1)
    return commit(journal, current, wanted)
  }

  /// Adds a batch to the group, in the journal that it was begun in. The answer is the LSN behind it.
  func stage(_ batch: BatchFrames, in journal: JournalFile) -> UInt64 {
    stage(batch, journal, tail.current)
    return stagedLSN
  }

  @inline(__always)
  func stage(_ batch: BatchFrames, _ journal: JournalFile, _ current: UnsyncedTail.Segment) {
    batch.seal(into: current.bytes, origin: current.offset, codec: journal.codec)
    staged.append(place: current.bytes.count, lsn: stagedLSN &+ UInt64(batch.operations))
  }

  /// The LSN behind the batches staged so far.
  var stagedLSN: UInt64 { staged.last?.lsn ?? lsn }

  /// Gives the group up: nothing of it was written.
  func dropGroup() {
    tail.current.bytes.count = groupStart
    staged.removeAll()
    if hasMark { lastMarkTime = LogWriter.longAgo }
  }

  /// What became of a group.
  enum GroupResult {
    case written
    /// There was no room, or no way to look whether the file is still the page's: batches with an LSN up to this one stand
    /// and, where there are any, are durable; the others were not written.
    case refused(standing: UInt64, LogStoreError)
    /// Whether it will survive is unknown.
    case unknown(LogStoreError)
  }

  /// Writes the group with one call, and makes it durable where `level` asks for it.
  func commitGroup(_ wanted: Durability, in journal: JournalFile) -> GroupResult {
    commit(journal, tail.current, wanted)
  }

  @inline(__always)
  func commit(
    _ journal: JournalFile, _ current: UnsyncedTail.Segment, _ wanted: Durability
  ) -> GroupResult {
    if wanted != .process || now - lastLookTime >= LogWriter.lookInterval {
      do {
        try lookAround(journal)
      } catch {
        dropGroup()
        return poison == nil ? .refused(standing: lsn, error) : .unknown(error)
      }
    }
    let bytes = unsafe UnsafeRawBufferPointer(rebasing: current.bytes.bytes[groupStart...])
    var written = 0
    do {
      try unsafe journal.file.writeFully(bytes, at: end, written: &written)
    } catch  where error.isNoSpace {
      return cut(journal, written: written, wanted: bytes.count, error)
    } catch {
      dropGroup()
      return .unknown(fail(error, "a write failed"))
    }
    end += UInt64(bytes.count)
    lsn = stagedLSN
    isClosedAtEnd = false
    if hasMark { durable.withLock { if $0.generation == journal.generation { $0.markedEnd = named } } }
    guard wanted != .process else { return .written }
    do {
      try sync(min(wanted, level), of: journal, upTo: end, lsn: lsn)
      return .written
    } catch {
      setPoison(error)
      return .unknown(error)
    }
  }

  /// ENOSPC and its kin: the journal's life is over. What was written whole stands, once it is synced.
  func cut(_ journal: JournalFile, written: Int, wanted: Int, _ error: StorageError) -> GroupResult {
    let refused = LogStoreError(error, lsn: lsn)
    let size: UInt64
    do throws(StorageError) {
      size = try journal.file.status().size
    } catch {
      dropGroup()
      return .unknown(fail(error, "a write failed, and the file cannot be looked at"))
    }
    guard size <= end + UInt64(written) else {
      dropGroup()
      return .unknown(fail(error, "a write failed and may have written more than it said"))
    }
    let standing = staged.last(upTo: groupStart + written)
    let keep = end + UInt64((standing?.place ?? groupStart) - groupStart)
    do throws(LogStoreError) {
      try sync(level, of: journal, upTo: keep, lsn: standing?.lsn ?? lsn)
    } catch {
      dropGroup()
      setPoison(error)
      return .unknown(error)
    }
    tail.current.bytes.count = standing?.place ?? groupStart
    lsn = standing?.lsn ?? lsn
    retire(journal, at: keep)
    return .refused(standing: lsn, refused)
  }

  /// Ends the journal's life at `keep`, all of which is durable.
  func retire(_ journal: JournalFile, at keep: UInt64) {
    end = keep
    place = .pending(
      JournalStart(
        predecessor: .init(generation: journal.generation, salt: journal.header.salt, end: keep), baseLSN: lsn))
  }
}
