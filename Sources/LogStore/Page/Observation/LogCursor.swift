internal import Synchronization

/// Reads a page's log from a position on, batch by batch, without losing one.
///
/// Invariant behind the unchecked conformance: used from one task at a time, as every iterator is.
final class LogCursor<Model: PageModel>: @unchecked Sendable {
  private let core: PageCore<Model>
  /// Journals from the one with the position on; those of the present log come from the page itself.
  private var older: [(journal: JournalFile, end: UInt64)] = []
  private var generation: UInt64?
  /// The journal of that generation: it stays readable when a compaction has dropped it from the page's log.
  private var reading: JournalFile?
  private var offset = UInt64(Limits.headerBytes)
  private(set) var position: Position
  private var lsn: UInt64 = 0
  private var isPlaced = false

  init(_ core: PageCore<Model>, after position: Position) {
    self.core = core
    self.position = position
  }

  /// The next batches, as many as come in one go; empty where the log ends for now.
  func next() throws(LogStoreError) -> [LoggedBatch] {
    if !isPlaced { try place() }
    var log = core.log.withLock { $0 }
    var isPlacedAgain = false
    while true {
      if let (journal, end) = current(log) {
        if offset < end {
          let batches = try read(journal, end)
          if !batches.isEmpty { return batches }
          if offset < end { continue }
        }
        if advance(log) { continue }
        if generation == log.segments.last?.journal.generation { return [] }
      }
      // Compactions have gone past it: whatever is still kept of the log is found by position.
      guard !isPlacedAgain else { throw notKept(log.segments.first?.journal.header) }
      isPlacedAgain = true
      older = []
      offset = UInt64(Limits.headerBytes)
      log = core.log.withLock { $0 }
      try place()
    }
  }

  private func read(_ journal: JournalFile, _ end: UInt64) throws(LogStoreError) -> [LoggedBatch] {
    var walk = JournalWalk(journal.reader(from: offset, limit: end), from: offset, lsn: lsn)
    walk.isSealed = true
    walk.skips = core.opening.withLock { $0.losses }
      .filter { $0.generation == journal.generation && $0.salt == journal.header.salt }.sorted { $0.start < $1.start }
    var sink = BatchSink(salt: journal.header.salt, after: position.lsn)
    try walk.run(&sink)
    (offset, lsn) = (walk.outcome.good, walk.outcome.lsn)
    if let last = sink.batches.last { position = last.position }
    return sink.batches
  }

  /// The journal that is being read, and where it ends.
  private func current(_ log: LogSegments) -> (JournalFile, UInt64)? {
    guard let generation else { return nil }
    if let segment = log.segments.first(where: { $0.journal.generation == generation }) {
      return (segment.journal, segment.end)
    }
    if let known = older.first(where: { $0.journal.generation == generation }) { return (known.journal, known.end) }
    guard let reading, reading.generation == generation,
      let next = log.segments.first(where: { $0.journal.header.predecessor?.salt == reading.header.salt }),
      let end = next.journal.header.predecessor?.end, end > 0
    else { return nil }
    // Its successor says where it ended.
    older.append((reading, end))
    return (reading, end)
  }

  /// Goes to the journal behind the one that has been read. Returns whether there is one.
  private func advance(_ log: LogSegments) -> Bool {
    let chain = older.map(\.journal) + log.segments.map(\.journal)
    guard
      let next = chain.first(where: {
        $0.header.predecessor?.generation == generation && $0.generation > generation ?? 0
      })
    else { return false }
    if let segment = log.segments.last(where: { $0.journal.generation == generation }) {
      // Kept while its successor is read: the page may drop it from its log meanwhile.
      older.append((segment.journal, segment.end))
    }
    generation = next.generation
    reading = next
    offset = UInt64(Limits.headerBytes)
    lsn = next.header.baseLSN
    return true
  }

  /// Finds the journal that the position is of, among those of the page and those kept before.
  private func place() throws(LogStoreError) {
    let log = core.log.withLock { $0 }
    let wanted = position
    if let index = log.segments.firstIndex(where: { $0.journal.header.salt == wanted.salt }) {
      guard log.standing(of: wanted) != .unknown else { throw changed() }
      begin(log.segments[index].journal)
      return
    }
    try core.withDirectory { (directory) throws(LogStoreError) in
      try placeInOlder(log, try PageFiles(directory, cacheBytes: 0))
    }
  }

  private func placeInOlder(_ log: LogSegments, _ files: PageFiles) throws(LogStoreError) {
    var successor = log.segments.first?.journal.header
    while let header = successor, let predecessor = header.predecessor, let end = predecessor.end, end != 0,
      let journal = try files.journal(predecessor.generation).file, journal.header.salt == predecessor.salt
    {
      older.insert((journal, end), at: 0)
      if journal.header.salt == position.salt {
        // Its own positions end at E; its successor may have carried on more of them.
        let reach = max(header.baseLSN, try carriedLSN(header, files, log))
        guard position.lsn >= journal.header.baseLSN, position.lsn <= reach else { throw changed() }
        begin(journal)
        return
      }
      successor = journal.header
    }
    if successor?.predecessor?.salt == position.salt || (position.lsn == 0 && successor?.predecessor == nil) {
      guard position.lsn == successor?.baseLSN, let first = older.first?.journal ?? log.segments.first?.journal else {
        throw notKept(successor)
      }
      begin(first)
      return
    }
    throw successor?.predecessor == nil ? changed() : notKept(successor)
  }

  private func carriedLSN(_ header: JournalHeader, _ files: PageFiles, _ log: LogSegments) throws(LogStoreError)
    -> UInt64
  {
    if let segment = log.segments.first(where: { $0.journal.generation == header.generation }) {
      return segment.carriedLSN
    }
    guard let journal = try files.journal(header.generation).file else { return header.baseLSN }
    var walk = JournalWalk(journal.reader(limit: min(header.initialLength, journal.status.size)))
    walk.isSealed = true
    var sink = BlindSink()
    try walk.run(&sink)
    return walk.outcome.lsn
  }

  private func begin(_ journal: JournalFile) {
    generation = journal.generation
    reading = journal
    offset = UInt64(Limits.headerBytes)
    lsn = journal.header.baseLSN
    isPlaced = true
  }

  private func changed() -> LogStoreError {
    LogStoreError(
      .historyChanged,
      "position \(position) is not on this page's history: a crash or a restore has replaced what followed. Read the page again",
      path: core.path, lsn: position.lsn)
  }

  private func notKept(_ oldest: JournalHeader?) -> LogStoreError {
    LogStoreError(
      .notKept,
      "the log is kept from LSN \(oldest?.baseLSN ?? 0) on, and position \(position) is older or unknown. Read the page again",
      path: core.path, lsn: oldest?.baseLSN)
  }
}

extension Page {
  /// Every batch after a position, in order, none left out; then those to come.
  ///
  /// Reads the journal itself, so a consumer may stop, note the last ``LoggedBatch/position``, and resume from it later,
  /// also after a restart. The sequence ends when the page is closed (what was written before is delivered first only if
  /// the consumer had come that far) or the task is cancelled.
  ///
  /// - Parameter position: where to begin behind. A new consumer takes a ``PageView`` first, and begins at its position.
  /// - Throws (while iterating): `historyChanged` where the position is not on the page's history; `notKept` where the
  ///   journal that it is in was removed by retention. Both mean: read the page again.
  public func operations(after position: Position) -> PageOperations { PageOperations(core: core, position: position) }

  /// The batches after a position that are there now; calls `body` with each until it returns false.
  ///
  /// - Returns: the position of the last batch delivered.
  @discardableResult
  public func readOperations(after position: Position, _ body: (LoggedBatch) throws -> Bool) throws -> Position {
    try core.checkOpen()
    let cursor = LogCursor(core, after: position)
    var last = position
    while true {
      let batches = try cursor.next()
      if batches.isEmpty { return last }
      for batch in batches {
        last = batch.position
        if try !body(batch) { return last }
      }
    }
  }
}

/// The batches of a page, as they come. See ``Page/operations(after:)``.
public struct PageOperations: AsyncSequence, Sendable {
  public typealias Element = LoggedBatch
  public typealias Failure = LogStoreError

  let core: PageCore<RecordModel>
  let position: Position

  public func makeAsyncIterator() -> Iterator { Iterator(core: core, cursor: LogCursor(core, after: position)) }

  public struct Iterator: AsyncIteratorProtocol {
    let core: PageCore<RecordModel>
    let cursor: LogCursor<RecordModel>
    private var ready: ArraySlice<LoggedBatch> = []

    init(core: PageCore<RecordModel>, cursor: LogCursor<RecordModel>) {
      self.core = core
      self.cursor = cursor
    }

    public mutating func next() async throws(LogStoreError) -> LoggedBatch? {
      while !Task.isCancelled {
        if let batch = ready.popFirst() { return batch }
        let (core, cursor) = (core, cursor)
        // Before reading, so that nothing written meanwhile is missed. Not every change brings a batch.
        let seen = core.log.withLock { $0.position }
        do throws(LogStoreError) {
          ready = try await offPool { () throws(LogStoreError) in try cursor.next() }[...]
        } catch {
          if error.code == .closed { return nil }
          throw error
        }
        if !ready.isEmpty { continue }
        if core.observers.isFinished { return nil }
        await core.observers.change { core.log.withLock { $0.position } != seen }
      }
      return nil
    }
  }
}
