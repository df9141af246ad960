internal import Dispatch
internal import Synchronization

/// The engine of a page, whatever its state is: committing, reading, compacting, closing.
///
/// Data's way: a batch is staged into the writer's group (`commit`), written to the journal, noted in `log`, and taken
/// into `materialized` when somebody reads. Locks are taken in this order, and none is held over a callback:
/// baton → `materialized` → `log`.
///
/// Invariant behind the unchecked conformance: `writer` and `directory` change only under the baton; all else is constant
/// or behind a lock.
final class PageCore<Model: PageModel>: @unchecked Sendable {
  let path: String
  let options: PageOptions
  let makeModel: @Sendable () -> Model
  var writer: LogWriter?
  var directory: any StorageDirectory
  let isReadOnly: Bool
  let phase = PagePhase()
  let log: Mutex<LogSegments>
  let materialized: Mutex<Materialized<Model>>
  let observers = Observers()
  let heal: HealNotice
  let emit: EventDelivery
  let opening: Mutex<Opening>
  let compaction = Mutex(CompactionState())
  /// Whether a sync beside the writers is due by time, and whether one is at work because of the bytes that wait.
  let isSyncDue = RaisedOnce()
  let isSyncing = RaisedOnce()
  /// Whether a mark is due once nobody writes, and the LSN when that was looked at last.
  let isIdleDue = RaisedOnce()
  let idleLSN = Atomic<UInt64>(0)

  /// Asks for a compaction where one is due. Set once, before the page is handed to anyone.
  nonisolated(unsafe) var onCompactionDue: ((Bool) -> Void)?
  /// Where in which journal the next look is due whether to compact. Used by the holder of the baton.
  nonisolated(unsafe) var nextLook: (generation: UInt64, end: UInt64) = (0, 0)

  let queue = CommitQueue()

  /// What opening found out.
  struct Opening: Sendable {
    var report: RecoveryReport
    var losses: [LossRecord]
    var quarantine: [QuarantineRange]
    var durability: Durability
    /// The page's identity.
    var id: PageID?
  }

  init(
    path: String, mode: OpenMode, options: PageOptions, at moment: Moment, makeModel: @escaping @Sendable () -> Model
  ) throws(LogStoreError) {
    self.path = path
    self.options = options
    self.makeModel = makeModel
    isReadOnly = mode == .readOnly
    emit = EventDelivery(options.onEvent)
    heal = HealNotice(emit)
    let heal = heal
    let opener = PageOpener(path: path, mode: mode, options: options, until: moment, onHeal: { heal.notify($0, $1) })
    let session = try opener.open(makeModel())
    writer = session.writer
    directory = session.directory
    log = Mutex(session.log)
    opening = Mutex(
      Opening(
        report: session.report, losses: session.losses, quarantine: session.quarantine, durability: session.durability,
        id: session.id))
    materialized = Mutex(session.materialized)
    queue.attach { [unowned self] requests in commit(requests) }
    heal.request = { [weak self] in unsafe self?.onCompactionDue?(true) }
  }

  deinit {
    // Not closed by its owner: as after a crash, but for the lock.
    directory.close()
  }

  // MARK: Writing

  func write(_ batch: WriteBatch, _ durability: Durability?, _ expecting: Position?) throws(LogStoreError) -> Position {
    let wanted = durability ?? options.durability
    try check(batch)
    if queue.tryClaim() {
      defer { queue.release() }
      return try commitAlone(batch, wanted, expecting)
    }
    let request = CommitRequest(batch, wanted, expecting)
    queue.enqueue(request)
    return try request.wait().get()
  }

  func write(
    _ batch: WriteBatch, _ durability: Durability?, _ expecting: Position?
  ) async throws(LogStoreError) -> Position {
    try check(batch)
    if Task.isCancelled { throw LogStoreError(.cancelled, "the task was cancelled before its batch was written") }
    let request = CommitRequest(batch, durability ?? options.durability, expecting)
    queue.enqueue(request)
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        request.whenResolved { continuation.resume(returning: $0) }
      }
    } onCancel: {
      if queue.withdraw(request) {
        request.resolve(.failure(LogStoreError(.cancelled, "the task was cancelled before its batch was written")))
      }
    }
    return try result.get()
  }

  private func check(_ batch: borrowing WriteBatch) throws(LogStoreError) {
    try checkWritable()
    let isApplication = Model.isApplication
    guard batch.isEmpty || batch.unsealed.isApplication == isApplication else {
      throw LogStoreError(
        .wrongState,
        isApplication
          ? "this page holds an application's own state; write its own frames"
          : "this page holds records; an application's own frames need a StatePage", path: path)
    }
  }

  func checkWritable() throws(LogStoreError) {
    try checkOpen()
    guard !isReadOnly else {
      throw LogStoreError(.readOnly, "the page was opened for reading; open it for writing", path: path)
    }
  }

  func checkOpen() throws(LogStoreError) {
    switch phase.current {
    case .open: return
    case .suspended: throw LogStoreError(.suspended, "the page is suspended; call resume() first", path: path)
    case .closed: throw LogStoreError(.closed, "the page is closed; open it again", path: path)
    }
  }

  /// The fast way: one batch, in the caller's thread. Holds the baton.
  private func commitAlone(
    _ batch: WriteBatch, _ durability: Durability, _ expecting: Position?
  ) throws(LogStoreError) -> Position {
    if batch.isEmpty {
      try checkOpen()
      guard let writer else { throw closed }
      try checkExpected(expecting, stagedLSN: writer.lsn)
      return writer.position
    }
    return try commitAlone(durability, expecting) { (writer) throws(LogStoreError) in
      try writer.commitAlone(batch.unsealed, durability)
    }
  }

  /// Commits a group of one batch by `commit`. Holds the baton.
  @inline(__always)
  func commitAlone(
    _ durability: Durability, _ expecting: Position?,
    _ commit: (LogWriter) throws(LogStoreError) -> LogWriter.GroupResult
  ) throws(LogStoreError) -> Position {
    try checkOpen()
    guard let writer else { throw closed }
    try checkExpected(expecting, stagedLSN: writer.lsn)
    let result = try commit(writer)
    follow(writer)
    switch result {
    case .written:
      afterWrite(writer, durability)
      return writer.position
    case .cut(_, let error):
      throw error
    case .unknown(let error):
      emit(.poisoned(error))
      throw error
    }
  }

  var closed: LogStoreError { LogStoreError(.closed, "the page is closed; open it again", path: path) }

  /// Commits what waits as one group. Holds the baton.
  private func commit(_ requests: [CommitRequest]) {
    guard let writer else {
      for request in requests {
        request.resolve(.failure(LogStoreError(.closed, "the page is closed; open it again", path: path)))
      }
      return
    }
    var rest = requests[...]
    while !rest.isEmpty { commitGroup(&rest, writer) }
  }

  /// Commits the first of `requests`, as many as one group takes.
  private func commitGroup(_ requests: inout ArraySlice<CommitRequest>, _ writer: LogWriter) {
    let journal: JournalFile
    do throws(LogStoreError) {
      try checkOpen()
      journal = try writer.beginGroup()
    } catch {
      for request in requests { request.resolve(.failure(error)) }
      requests = []
      return
    }
    var staged: [(request: CommitRequest, lsn: UInt64)] = []
    var level = Durability.process
    var bytes = 0
    while let request = requests.first, bytes == 0 || bytes + request.batch.byteCount <= Limits.groupBytes {
      requests.removeFirst()
      do throws(LogStoreError) {
        try checkExpected(request.expecting, stagedLSN: writer.stagedLSN)
      } catch {
        request.resolve(.failure(error))
        continue
      }
      if request.batch.isEmpty {
        staged.append((request, writer.stagedLSN))
        continue
      }
      staged.append((request, writer.stage(request.batch.unsealed, in: journal)))
      bytes += request.batch.byteCount
      level = max(level, request.durability)
    }
    guard bytes > 0 else {
      writer.dropGroup()
      for (request, lsn) in staged { request.resolve(.success(Position(salt: writer.position.salt, lsn: lsn))) }
      return
    }
    let salt = writer.position.salt
    let result = writer.commitGroup(level, in: journal)
    follow(writer)
    switch result {
    case .written:
      afterWrite(writer, level)
      for (request, lsn) in staged { request.resolve(.success(Position(salt: salt, lsn: lsn))) }
    case .cut(let standing, let error):
      for (request, lsn) in staged {
        request.resolve(lsn <= standing ? .success(Position(salt: salt, lsn: lsn)) : .failure(error))
      }
    case .unknown(let error):
      for (request, _) in staged { request.resolve(.failure(error)) }
      emit(.poisoned(error))
    }
  }

  /// Whether the page stands where the writer believes. `stagedLSN` counts the batches in front in the same group.
  private func checkExpected(_ expecting: Position?, stagedLSN: UInt64) throws(LogStoreError) {
    guard let expecting else { return }
    let known = log.withLock { $0 }
    switch known.standing(of: expecting) {
    case .present where stagedLSN == expecting.lsn: return
    case .unknown where expecting.salt == known.position.salt && expecting.lsn == stagedLSN: return
    case .unknown:
      throw LogStoreError(
        .historyChanged, "position \(expecting) is not on this page's history; read the page again", path: path,
        lsn: stagedLSN)
    default:
      throw LogStoreError(
        .conflict,
        "the page is at LSN \(stagedLSN), not at \(expecting.lsn); read what came in between, and decide again",
        path: path, lsn: stagedLSN)
    }
  }

  /// Notes where the log ends now, and tells whoever waits for it.
  func follow(_ writer: LogWriter) {
    log.withLock { $0.follow(writer) }
    observers.notify()
  }

  // MARK: Access for the parts in other files

  /// Runs `body` with the page's directory, which is neither closed nor exchanged meanwhile.
  func withDirectory<Result>(
    _ body: (any StorageDirectory) throws(LogStoreError) -> Result
  ) throws(LogStoreError) -> Result {
    try queue.withBaton { () throws(LogStoreError) in
      guard phase.current != .closed else { throw closed }
      return try body(directory)
    }
  }

  /// Runs `body` with the baton and the writer.
  func withWriter<Result>(_ body: (LogWriter) throws(LogStoreError) -> Result) throws(LogStoreError) -> Result {
    try queue.withBaton { () throws(LogStoreError) in
      try checkOpen()
      guard let writer else {
        throw isReadOnly
          ? LogStoreError(.readOnly, "the page was opened for reading; open it for writing", path: path)
          : LogStoreError(.closed, "the page is closed; open it again", path: path)
      }
      let result = try body(writer)
      follow(writer)
      return result
    }
  }
}
