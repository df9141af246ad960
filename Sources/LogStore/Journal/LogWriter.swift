internal import Synchronization

/// Appends groups of batches to the newest journal, and starts new ones. Here is its state, which only the writer's own
/// extensions change, in the files beside this one.
///
/// Invariant behind the unchecked conformance: everything but `durable` and `gate` is touched only by the thread that
/// holds the page's baton (`CommitQueue`), which is let go of and taken with a lock's ordering.
final class LogWriter: @unchecked Sendable {
  let directory: any StorageDirectory
  let storage: any Storage
  let id: PageID
  let state: UInt32
  /// What stands for `.power` here; weaker only where the options accept it.
  let level: Durability

  var place: Place
  var end: UInt64 = 0
  var lsn: UInt64
  /// The LSN behind what the newest journal carried on from its predecessor.
  var carriedLSN: UInt64 = 0
  var poison: LogStoreError?
  /// Whether the journal that could not be started last may have its name all the same.
  var mayBeNamed = false
  /// Whether the last thing in the journal is the close mark.
  var isClosedAtEnd = false
  let tail = UnsyncedTail(offset: 0)

  // The group that is being put together.
  var groupStart = 0
  let staged = StagedPlaces()
  var hasMark = false
  /// The durable end that the group's mark names.
  var named: UInt64 = 0
  /// When the group was begun.
  var now = LogWriter.longAgo
  var lastMarkTime = LogWriter.longAgo
  var lastLookTime = LogWriter.longAgo

  let durable = DurableState()
  /// Held over every sync of the journal, so that none can take another's failure for its own success.
  let gate = Mutex<Void>(())

  static let longAgo: Int64 = -(1 << 62)
  /// Nanoseconds between marks while writers go on.
  static let markInterval: Int64 = 1_000_000_000
  /// Nanoseconds for which a look at the file's name is good, between syncs.
  static let lookInterval: Int64 = 10_000_000

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
  enum Place {
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
}
