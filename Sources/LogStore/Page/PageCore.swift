internal import Dispatch
internal import Synchronization

/// The engine of a page, whatever its state is: committing, reading, compacting, closing.
///
/// Data's way: a batch is staged into the writer's group (`commitGroup`), written to the journal, noted in `log`, and taken
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

  let queue: CommitQueue

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
    queue = CommitQueue(schedule: options.schedule)
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
    queue.attach { [unowned self] requests in commitGroup(requests) }
    heal.request = { [weak self] in unsafe self?.onCompactionDue?(true) }
  }

  deinit {
    // Not closed by its owner: as after a crash, but for the lock.
    directory.close()
  }

  // MARK: Access for the parts in other files

  @inline(__always)
  func checkWritable() throws(LogStoreError) {
    try checkOpen()
    if isReadOnly { throw readOnly }
  }

  @inline(__always)
  func checkOpen() throws(LogStoreError) {
    let current = phase.current
    if current != .open { throw notOpen(current) }
  }

  private func notOpen(_ phase: PagePhase.Value) -> LogStoreError {
    phase == .closed
      ? closed : LogStoreError(.suspended, "the page is suspended; call resume() first", path: path)
  }

  var closed: LogStoreError { LogStoreError(.closed, "the page is closed; open it again", path: path) }
  var readOnly: LogStoreError {
    LogStoreError(.readOnly, "the page was opened for reading; open it for writing", path: path)
  }

  /// Notes where the log ends now, and tells whoever waits for it.
  func follow(_ writer: LogWriter) {
    log.withLock { $0.follow(writer) }
    observers.notifyOfLog()
  }

  /// The same where the writer has written into `journal`.
  @inline(__always)
  func follow(_ writer: LogWriter, in journal: JournalFile) {
    log.withLock { $0.follow(writer, in: journal) }
    observers.notifyOfLog()
  }

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
        throw isReadOnly ? readOnly : closed
      }
      let result = try body(writer)
      follow(writer)
      return result
    }
  }
}
