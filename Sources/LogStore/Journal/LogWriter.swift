internal import Synchronization

/// Appends groups of batches to the newest journal, and starts new ones.
///
/// Invariant behind the unchecked conformance: everything but `durable` and `gate` is touched only by the thread that
/// holds the page's baton (`CommitQueue`), which hands it over with a lock's ordering.
final class LogWriter: @unchecked Sendable {
  let directory: any StorageDirectory
  let storage: any Storage
  let id: PageID
  let state: UInt32
  /// What stands for `.power` here; weaker only where the options accept it.
  let level: Durability

  private var place: Place
  private(set) var end: UInt64 = 0
  private(set) var lsn: UInt64
  /// The LSN behind what the newest journal carried on from its predecessor.
  private(set) var carriedLSN: UInt64 = 0
  private(set) var poison: LogStoreError?
  /// Whether the journal that could not be started last may have its name all the same.
  private var mayBeNamed = false
  /// Whether the last thing in the journal is the close mark.
  private(set) var isClosedAtEnd = false
  let tail = UnsyncedTail(offset: 0)

  // The group that is being put together.
  private var groupStart = 0
  private let staged = StagedPlaces()
  private var hasMark = false
  /// The durable end that the group's mark names.
  private var named: UInt64 = 0
  /// When the group was begun.
  private var now = LogWriter.longAgo
  private var lastMarkTime = LogWriter.longAgo
  private var lastLookTime = LogWriter.longAgo

  let durable = DurableState()
  /// Held over every sync of the journal, so that none can take another's failure for its own success.
  private let gate = Mutex<Void>(())

  private static let longAgo: Int64 = -(1 << 62)
  /// Nanoseconds between marks while writers go on.
  private static let markInterval: Int64 = 1_000_000_000
  /// Nanoseconds for which a look at the file's name is good, between syncs.
  private static let lookInterval: Int64 = 10_000_000

  /// Goes on in `journal`, which was closed cleanly and ends at `end`.
  init(
    appendingTo journal: JournalFile, end: UInt64, lsn: UInt64, directory: any StorageDirectory, storage: any Storage,
    level: Durability
  ) {
    self.directory = directory
    self.storage = storage
    self.level = level
    (id, state) = (journal.header.id, journal.header.state)
    place = .closed(journal)
    self.end = end
    self.lsn = lsn
    carriedLSN = lsn
    isClosedAtEnd = true
    tail.restart(at: end)
    durable.withLock { $0 = .closed(at: end, lsn: lsn) }
  }

  /// Has no journal to go on in: the first write, or `startIfPending`, starts one.
  init(
    starting start: JournalStart, lsn: UInt64, id: PageID, state: UInt32, directory: any StorageDirectory,
    storage: any Storage, level: Durability
  ) {
    self.directory = directory
    self.storage = storage
    self.level = level
    (self.id, self.state) = (id, state)
    self.lsn = lsn
    place = .pending(start)
    durable.withLock { $0 = Durable(lsn: start.baseLSN) }
  }

  /// Where the log goes on.
  private enum Place {
    case journal(JournalFile)
    /// In one that was closed, and that nothing may be written to before it says, durably, that a session goes on in it.
    case closed(JournalFile)
    /// In one that the next write has to start.
    indirect case pending(JournalStart)
  }

  /// The journal that is appended to; nil where the next write has to start one.
  var journal: JournalFile? {
    switch place {
    case .journal(let journal), .closed(let journal): journal
    case .pending: nil
    }
  }

  /// How the next journal starts, where there is none to append to.
  var pending: JournalStart? { if case .pending(let start) = place { start } else { nil } }

  var position: Position {
    switch place {
    case .journal(let journal), .closed(let journal): Position(salt: journal.header.salt, lsn: lsn)
    case .pending(let start): Position(salt: start.predecessor?.salt ?? 0, lsn: lsn)
    }
  }

  // MARK: A group

  /// Makes ready for a group: a journal to write into, which it returns, and a mark where one is due.
  func beginGroup() throws(LogStoreError) -> JournalFile {
    try checkUsable()
    let journal = try startIfPending()
    _ = begin(journal)
    return journal
  }

  /// The same in a journal, of which the writer is known to be usable. Returns where the group is put together.
  //
  // This, `stage` and `commit` are given the objects that they use: each look-up of one in the writer would count a
  // reference up and down, and those counts are most of what a small write costs beside its system call.
  @inline(__always)
  private func begin(_ journal: JournalFile) -> UnsyncedTail.Segment {
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

  /// A group of one batch.
  func commitAlone(_ batch: BatchFrames, _ wanted: Durability) throws(LogStoreError) -> GroupResult {
    try commitAlone(wanted) { stage(batch, $0, $1) }
  }

  /// A group of one put, whose value fits one frame.
  func commitAlone(
    _ value: RawSpan, for key: RawSpan, _ wanted: Durability
  ) throws(LogStoreError) -> GroupResult {
    try commitAlone(wanted) { journal, current in
      let bytes = current.bytes
      let frame = bytes.openFrame()
      bytes.append(UInt16(truncatingIfNeeded: key.byteCount))
      bytes.append(key)
      bytes.append(value)
      bytes.sealFrame(frame, FrameType(.put), offset: current.offset &+ UInt64(frame), codec: journal.codec)
      staged.append(place: bytes.count, lsn: stagedLSN &+ 1)
    }
  }

  @inline(__always)
  private func commitAlone(
    _ wanted: Durability, _ stage: (JournalFile, UnsyncedTail.Segment) -> Void
  ) throws(LogStoreError) -> GroupResult {
    try checkUsable()
    let journal = try startIfPending()
    let current = begin(journal)
    stage(journal, current)
    return commit(journal, current, wanted)
  }

  private func appendMark(_ journal: JournalFile, durableEnd: UInt64, closed: Bool) {
    let mark = Mark(
      lsn: lsn, durableEnd: durableEnd, time: storage.wallClock(), salt: journal.header.salt, isClosed: closed)
    named = durableEnd
    let bytes = tail.current.bytes
    mark.append(to: bytes, offset: tail.current.offset + UInt64(bytes.count), codec: journal.codec)
    staged.append(place: bytes.count, lsn: lsn)
  }

  /// Adds a batch to the group, in the journal that it was begun in. The answer is the LSN behind it.
  func stage(_ batch: BatchFrames, in journal: JournalFile) -> UInt64 {
    stage(batch, journal, tail.current)
    return stagedLSN
  }

  @inline(__always)
  private func stage(_ batch: BatchFrames, _ journal: JournalFile, _ current: UnsyncedTail.Segment) {
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
    /// There was no room: batches with an LSN up to this one stand and are durable, the others were not written.
    case cut(standing: UInt64, LogStoreError)
    /// Whether it will survive is unknown.
    case unknown(LogStoreError)
  }

  /// Writes the group with one call, and makes it durable where `level` asks for it.
  func commitGroup(_ wanted: Durability, in journal: JournalFile) -> GroupResult {
    commit(journal, tail.current, wanted)
  }

  @inline(__always)
  private func commit(
    _ journal: JournalFile, _ current: UnsyncedTail.Segment, _ wanted: Durability
  ) -> GroupResult {
    if wanted != .process || now - lastLookTime >= LogWriter.lookInterval, let replaced = lookAround(journal) {
      dropGroup()
      setPoison(replaced)
      return .unknown(replaced)
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
  private func cut(_ journal: JournalFile, written: Int, wanted: Int, _ error: StorageError) -> GroupResult {
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
    return .cut(standing: lsn, refused)
  }

  /// Ends the journal's life at `keep`, all of which is durable.
  private func retire(_ journal: JournalFile, at keep: UInt64) {
    end = keep
    place = .pending(
      JournalStart(
        predecessor: .init(generation: journal.generation, salt: journal.header.salt, end: keep), baseLSN: lsn))
  }

  // MARK: Durability

  /// Whether a sync at `wanted` makes durable, and not only ordered.
  func isFull(_ wanted: Durability) -> Bool { wanted >= level || wanted == .ordered && storage.orderedIsDurable }

  /// Makes everything up to `upTo` durable, as far as `wanted` does. Any thread; syncs of a journal exclude each other.
  func sync(_ wanted: Durability, of journal: JournalFile, upTo: UInt64, lsn: UInt64) throws(LogStoreError) {
    let isFull = isFull(wanted)
    let failure = gate.withLock { _ -> LogStoreError? in
      let known = durable.withLock { $0 }
      if let failure = known.failure { return failure }
      // A journal that was left behind owes nothing: what it held was made durable, or carried on, before. Nor does one
      // that was closed: a sync would say nothing about a close mark whose own sync has failed.
      guard known.generation == journal.generation, known.end < upTo else { return nil }
      guard isFull || known.orderedEnd < upTo else { return nil }
      do throws(StorageError) {
        try journal.file.sync(wanted)
      } catch {
        let failure = outcomeUnknown(error, "a sync failed")
        return durable.withLock {
          // It may have been left behind during the sync, too.
          guard $0.generation == journal.generation else { return nil }
          $0.failure = failure
          return failure
        }
      }
      durable.withLock {
        guard $0.generation == journal.generation else { return }
        $0.orderedEnd = max($0.orderedEnd, upTo)
        guard isFull else { return }
        $0.end = max($0.end, upTo)
        $0.lsn = max($0.lsn, lsn)
      }
      return nil
    }
    if let failure { throw failure }
  }

  /// Whether something is shown that only a new journal, not yet started, will make durable.
  var mustCarry: Bool { pending?.carried.isEmpty == false }

  /// Makes everything written so far durable.
  func syncAll() throws(LogStoreError) {
    try checkUsable()
    if mustCarry { _ = try startIfPending() }
    guard let journal else { return }
    if let replaced = lookAround(journal) {
      setPoison(replaced)
      throw replaced
    }
    do {
      try sync(level, of: journal, upTo: end, lsn: lsn)
    } catch {
      setPoison(error)
      throw error
    }
  }

  /// Writes a mark that names what is durable, so that a later reader can tell it from a tail that never was.
  /// With `closed`, the last one: without room for it, the page simply was not closed. Behind a close mark there is
  /// nothing to say.
  func writeMark(closed: Bool) throws(LogStoreError) {
    try checkUsable()
    guard case .journal(let journal) = place else { return }
    let known = durable.withLock { $0 }
    guard closed || known.awaitsMark else { return }
    _ = tail.beginGroup(at: end, durableEnd: known.end)
    groupStart = tail.current.bytes.count
    staged.removeAll()
    hasMark = true
    now = storage.monotonicClock()
    lastMarkTime = now
    appendMark(journal, durableEnd: known.end, closed: closed)
    switch commitGroup(level, in: journal) {
    case .written: isClosedAtEnd = closed
    case .cut: return
    case .unknown(let error): throw error
    }
  }

  /// The same process goes on behind its own close mark. Others may have had the page in between.
  func reopened() {
    guard let journal else { return }
    place = .closed(journal)
    durable.withLock { $0 = .closed(at: end, lsn: lsn) }
  }

  /// Whether writes go on. A sync beside the writers may have failed since the last group.
  func checkUsable() throws(LogStoreError) {
    guard poison != nil || durable.hasFailed, let failure = poison ?? durable.withLock({ $0.failure }) else { return }
    if poison == nil { setPoison(failure) }
    throw failure
  }

  private func fail(_ error: StorageError, _ what: String) -> LogStoreError {
    let failure = outcomeUnknown(error, what)
    setPoison(failure)
    return failure
  }

  private func setPoison(_ failure: LogStoreError) {
    poison = failure
    let known = durable.withLock {
      $0.failure = failure
      return $0
    }
    if failure.code == .outcomeUnknown, let journal { journal.file.preserve(tail.preserved(from: known.end)) }
  }

  private func outcomeUnknown(_ error: StorageError, _ what: String) -> LogStoreError {
    let known = durable.withLock { $0 }
    return LogStoreError(
      .outcomeUnknown,
      "\(what) (\(error.reason)): what was not durable before may be lost; durable is everything up to LSN \(known.lsn). "
        + "Call recover() to go on from memory in a new journal",
      path: error.path, offset: known.end, lsn: known.lsn, errno: error.errno, cause: error)
  }

  /// Whether the journal's name still is the journal's file. Between syncs a look is good for 10 ms: it costs a third
  /// of a write.
  private func lookAround(_ journal: JournalFile) -> LogStoreError? {
    lastLookTime = storage.monotonicClock()
    do {
      if let named = try directory.status(of: journal.name), named.inode == journal.status.inode, named.kind == .file {
        return nil
      }
    } catch {
      return LogStoreError(error)
    }
    return LogStoreError(
      .storeReplaced,
      "the page's files were removed or replaced under the running engine; close the page and open what is there now",
      path: journal.path, lsn: lsn)
  }

  // MARK: Starting a journal

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
  private func goOn(in journal: JournalFile) throws(LogStoreError) -> JournalFile {
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
  private func writeCloseMarkAgain(in journal: JournalFile) throws(LogStoreError) {
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

  private func startJournal(_ start: JournalStart) throws(LogStoreError) -> JournalFile {
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
          baseLSN: known.lsn, carried: tail.carried(from: known.end)))
    }
    poison = nil
    durable.withLock { $0.failure = nil }
    try startIfPending()
  }
}
