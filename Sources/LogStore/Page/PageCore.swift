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
  private(set) var writer: LogWriter?
  private(set) var directory: any StorageDirectory
  let isReadOnly: Bool
  private let phase = PagePhase()
  let log: Mutex<LogSegments>
  let materialized: Mutex<Materialized<Model>>
  let observers = Observers()
  let heal: HealNotice
  let emit: EventDelivery
  let opening: Mutex<Opening>
  let compaction = Mutex(CompactionState())
  /// Whether a sync beside the writers is due by time, and whether one is at work because of the bytes that wait.
  private let isSyncDue = RaisedOnce()
  private let isSyncing = RaisedOnce()
  /// Whether a mark is due once nobody writes, and the LSN when that was looked at last.
  private let isIdleDue = RaisedOnce()
  private let idleLSN = Atomic<UInt64>(0)

  /// Asks for a compaction where one is due. Set once, before the page is handed to anyone.
  nonisolated(unsafe) var onCompactionDue: ((Bool) -> Void)?
  /// Where in which journal the next look is due whether to compact. Used by the holder of the baton.
  private nonisolated(unsafe) var nextLook: (generation: UInt64, end: UInt64) = (0, 0)

  private nonisolated(unsafe) var queueBox: CommitQueue?
  var queue: CommitQueue {
    guard let queue = unsafe queueBox else { preconditionFailure("the page's queue is made with it") }
    return queue
  }

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
    let opener = PageOpener(path: path, mode: mode, options: options, until: moment, onHeal: { heal.notify($0) })
    let session = try opener.open(makeModel())
    writer = session.writer
    directory = session.directory
    log = Mutex(session.log)
    opening = Mutex(
      Opening(
        report: session.report, losses: session.losses, quarantine: session.quarantine, durability: session.durability,
        id: session.id))
    materialized = Mutex(session.materialized)
    unsafe queueBox = CommitQueue { [unowned self] requests in commit(requests) }
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
    return try commitAlone(durability, expecting) { _ = $0.stage(batch.unsealed) }
  }

  /// Commits what `stage` adds to the group. Holds the baton.
  @inline(__always)
  func commitAlone(
    _ durability: Durability, _ expecting: Position?, _ stage: (LogWriter) -> Void
  ) throws(LogStoreError) -> Position {
    try checkOpen()
    guard let writer else { throw closed }
    try checkExpected(expecting, stagedLSN: writer.lsn)
    try writer.beginGroup()
    stage(writer)
    let result = writer.commitGroup(durability)
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

  private var closed: LogStoreError { LogStoreError(.closed, "the page is closed; open it again", path: path) }

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
    do throws(LogStoreError) {
      try checkOpen()
      try writer.beginGroup()
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
      staged.append((request, writer.stage(request.batch.unsealed)))
      bytes += request.batch.byteCount
      level = max(level, request.durability)
    }
    guard bytes > 0 else {
      writer.dropGroup()
      for (request, lsn) in staged { request.resolve(.success(Position(salt: writer.position.salt, lsn: lsn))) }
      return
    }
    let salt = writer.position.salt
    let result = writer.commitGroup(level)
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
  private func follow(_ writer: LogWriter) {
    log.withLock { $0.follow(writer) }
    observers.notify()
  }

  // MARK: Syncing beside the writers

  private func afterWrite(_ writer: LogWriter, _ durability: Durability) {
    if durability == .process {
      let durableEnd = writer.durable.end
      let unsynced = writer.end - min(durableEnd, writer.end)
      if unsynced >= UInt64(options.syncAfterBytes), isSyncing.raise() {
        queue.perform { [weak self] in
          defer { self?.isSyncing.lower() }
          self?.syncBeside()
        }
      }
      if isSyncDue.raise() {
        queue.perform(after: Int(options.syncAfter.nanoseconds)) { [weak self] in
          self?.isSyncDue.lower()
          self?.syncBeside()
        }
      }
      if unsynced >= 4 * UInt64(options.syncAfterBytes), let journal = writer.journal {
        // The medium is slower than the writers: they wait for it rather than fill the memory.
        do throws(LogStoreError) {
          try writer.sync(writer.level, of: journal, upTo: writer.end, lsn: writer.lsn)
        } catch { emit(.syncFailed(error)) }
      }
    } else {
      armIdleMark()
    }
    lookForCompaction(writer)
  }

  /// Makes what was written durable without stopping the writers.
  private func syncBeside() {
    guard phase.isOpen, let target = log.withLock({ $0.segments.last }) else { return }
    // The writer is read under the baton, and used beside it: syncs are safe from any thread.
    guard let writer = queue.withBaton({ self.writer }) else { return }
    guard writer.durable.withLock({ $0.generation == target.journal.generation && $0.end < target.end }) else { return }
    do throws(LogStoreError) {
      try writer.sync(writer.level, of: target.journal, upTo: target.end, lsn: target.lsn)
    } catch {
      // From here on readers see what is in memory: the file may show old bytes.
      queue.withBaton {
        do throws(LogStoreError) { try writer.checkUsable() } catch {}
      }
      emit(.poisoned(error))
      return
    }
    armIdleMark()
  }

  private func armIdleMark() {
    guard isIdleDue.raise() else { return }
    queue.perform(after: Int(options.syncAfter.nanoseconds)) { [weak self] in self?.markIdle() }
  }

  /// Once nobody writes, says in the journal that all of it is durable: from then on damage cannot pass for a torn tail.
  private func markIdle() {
    let lsn = log.withLock { $0.position.lsn }
    guard phase.isOpen else { return }
    guard idleLSN.exchange(lsn, ordering: .relaxed) == lsn else {
      queue.perform(after: Int(options.syncAfter.nanoseconds)) { [weak self] in self?.markIdle() }
      return
    }
    isIdleDue.lower()
    queue.withBaton {
      guard let writer, phase.isOpen else { return }
      do throws(LogStoreError) {
        try writer.writeMark(closed: false)
      } catch { emit(.syncFailed(error)) }
      follow(writer)
    }
  }

  /// Asks for a compaction once the log has grown to where one is due. Holds the baton.
  private func lookForCompaction(_ writer: LogWriter) {
    guard options.compaction.isAutomatic, let journal = writer.journal else { return }
    if unsafe journal.generation == nextLook.generation && writer.end < nextLook.end { return }
    let (bytes, baseBytes, journals) = log.withLock { ($0.bytes, $0.baseBytes, $0.segments.count) }
    let limit = options.compaction.limit(snapshotBytes: baseBytes)
    let isDue = options.compaction.isDue(bytes: bytes, journals: journals, snapshotBytes: baseBytes)
    // Where one is due, whatever keeps it from coming is not asked about at every write.
    unsafe nextLook = (journal.generation, writer.end + (isDue ? max(1, min(limit / 8, 64 << 10)) : limit - bytes))
    unsafe onCompactionDue?(false)
  }

  func sync() throws(LogStoreError) -> Position {
    try checkOpen()
    guard !isReadOnly else { return log.withLock { $0.position } }
    return try queue.withBaton { () throws(LogStoreError) in
      try checkOpen()
      guard let writer else { throw LogStoreError(.closed, "the page is closed; open it again", path: path) }
      do throws(LogStoreError) {
        try writer.syncAll()
      } catch {
        follow(writer)
        throw error
      }
      return writer.position
    }
  }

  /// The last position known to be durable.
  var durablePosition: Position {
    guard let writer = queue.withBaton({ self.writer }) else { return log.withLock { $0.position } }
    let known = writer.durable.withLock { $0 }
    return log.withLock { log in
      for segment in log.segments where segment.journal.generation == known.generation {
        return Position(salt: segment.journal.header.salt, lsn: known.lsn)
      }
      return Position(salt: log.position.salt, lsn: known.lsn)
    }
  }

  // MARK: Recovering, suspending, closing

  func recover() throws(LogStoreError) {
    try checkOpen()
    try queue.withBaton { () throws(LogStoreError) in
      guard let writer else { throw LogStoreError(.readOnly, "the page was opened for reading", path: path) }
      guard writer.poison != nil || writer.mustCarry || writer.durable.hasFailed else { return }
      try writer.recover()
      follow(writer)
    }
  }

  func close() throws(LogStoreError) {
    let wasOpen = phase.exchange(.closed)
    guard wasOpen != .closed else { return }
    observers.finish()
    endRunningCompaction()
    defer { emit.flush() }
    try queue.withBaton { () throws(LogStoreError) in
      defer {
        directory.unlock()
        directory.close()
        writer = nil
      }
      guard wasOpen == .open, let writer else { return }
      try finishLog(writer)
    }
  }

  /// Makes everything durable and says that the writer has finished.
  private func finishLog(_ writer: LogWriter) throws(LogStoreError) {
    try writer.syncAll()
    guard writer.journal != nil else { return }
    if !writer.isClosedAtEnd { try writer.writeMark(closed: true) }
    follow(writer)
  }

  func suspend() throws(LogStoreError) {
    guard phase.exchange(.open, for: .suspended) else { return try checkNotClosed() }
    endRunningCompaction()
    try queue.withBaton { () throws(LogStoreError) in
      defer { directory.unlock() }
      guard let writer else { return }
      try finishLog(writer)
    }
  }

  /// Cancels a compaction that runs, and waits for it: it uses the directory.
  private func endRunningCompaction() {
    let turn: DispatchSemaphore? = compaction.withLock {
      guard $0.isRunning else { return nil }
      $0.isCancelled = true
      let turn = DispatchSemaphore(value: 0)
      $0.waiting.append(turn)
      return turn
    }
    turn?.wait()
  }

  private func checkNotClosed() throws(LogStoreError) {
    if phase.current == .closed {
      throw LogStoreError(.closed, "the page is closed; open it again", path: path)
    }
  }

  func resume() throws(LogStoreError) {
    try checkNotClosed()
    try queue.withBaton { () throws(LogStoreError) in
      guard phase.current == .suspended else { return }
      if isReadOnly {
        _ = phase.exchange(.suspended, for: .open)
        return
      }
      if let writer, try isUnchanged(writer) {
        guard try mapped({ () throws(StorageError) in try directory.lock() }) else {
          throw LogStoreError(.locked, "another writer has taken the page meanwhile; close it there", path: path)
        }
        if try isUnchanged(writer) {
          writer.reopened()
          _ = phase.exchange(.suspended, for: .open)
          observers.notify()
          return
        }
        directory.unlock()
      }
      try reopen()
      _ = phase.exchange(.suspended, for: .open)
      observers.notify()
    }
  }

  /// Whether the page is as this process left it: the same journal, as long as it was, and closed.
  private func isUnchanged(_ writer: LogWriter) throws(LogStoreError) -> Bool {
    guard let journal = writer.journal, writer.isClosedAtEnd, writer.poison == nil else { return false }
    return try mapped { () throws(StorageError) in
      let names = PageListing(try directory.list())
      guard names.highest == journal.generation, let status = try directory.status(of: journal.name) else {
        return false
      }
      return status.inode == journal.status.inode && status.size == writer.end
    }
  }

  func refresh() throws(LogStoreError) {
    guard isReadOnly else { return }
    try queue.withBaton { () throws(LogStoreError) in
      try checkOpen()
      try reopen()
    }
  }

  /// Opens the page anew in the place of what was known.
  private func reopen() throws(LogStoreError) {
    var options = self.options
    options.onProgress = nil
    let heal = heal
    let opener = PageOpener(
      path: path, mode: isReadOnly ? .readOnly : .readWrite, options: options, onHeal: { heal.notify($0) })
    let session = try opener.open(makeModel())
    directory.close()
    directory = session.directory
    writer = session.writer
    let (fresh, found) = (
      session.log,
      Opening(
        report: session.report, losses: session.losses, quarantine: session.quarantine, durability: session.durability,
        id: session.id)
    )
    opening.withLock { $0 = found }
    materialized.withLock { current in
      current = session.materialized
      log.withLock { $0 = fresh }
    }
    observers.notify()
  }

  // MARK: Access for the parts in other files

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

/// Tells about healed records once, and asks for the compaction that mends them.
final class HealNotice: @unchecked Sendable {
  // Invariant: `request` is set once, before the page is handed to anyone.
  var request: (@Sendable () -> Void)?
  private let emit: EventDelivery
  private let told = Atomic<Bool>(false)

  init(_ emit: EventDelivery) { self.emit = emit }

  /// The snapshot has been made anew: what is found from now on is news.
  func reset() { told.store(false, ordering: .relaxed) }

  func notify(_ error: LogStoreError) {
    guard !told.exchange(true, ordering: .relaxed) else { return }
    let file = error.path.map { $0.split(separator: "/").last.map(String.init) ?? $0 } ?? ""
    emit(
      .healed(
        Finding(
          .damagedSnapshot, .damage, file: file, range: error.offset.map { $0..<($0 + 1) },
          detail: "\(error.message); served from the kept generation", remedy: "logctl compact PAGE")))
    request?()
  }
}

extension Duration {
  var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
  }
}
