internal import Synchronization

/// An ordered table of records that survives anything: a snapshot plus a journal, in a directory.
///
/// As a list a page is a canvas in drawing order; as a dictionary it is a key-value store; with growing keys it is a log.
/// Opening reads what was written since the snapshot; writing costs what is written; a ``PageView`` is a value.
///
/// All methods may be called from any thread. The blocking ones commit in the caller's thread where nobody else is
/// committing; those that are `async` never block a thread of the cooperative pool. Writers that come together share one
/// write and one sync.
///
/// Close a page with `close()`; one that is merely let go is found "not closed" by the next opening, as after a crash.
public final class Page: Sendable {
  let core: PageCore<RecordModel>

  /// Opens a page.
  ///
  /// - Parameters:
  ///   - path: the page's directory.
  ///   - mode: whether to create, to write, or only to read.
  ///   - options: how the page is kept.
  ///   - moment: with ``OpenMode/readOnly``, the moment to read; as far back as generations are kept.
  /// - Throws: `notFound`, `cannotCreate`, `locked`, `foreignFile`, `newerVersion`, `noBase`, `unavailable`, `io`,
  ///   `unsupported`, `nestedPage`, `notKept`, `wrongState`; `damaged` under ``RecoveryPolicy/strict``. Nothing on disk
  ///   has changed then.
  /// - Complexity: what was written since the snapshot; not the page's size.
  public init(
    path: String, mode: OpenMode = .create, options: PageOptions = PageOptions(), at moment: Moment = .now
  ) throws(LogStoreError) {
    guard moment == .now || mode == .readOnly else {
      throw LogStoreError(.readOnly, "a past moment can only be read; open with mode readOnly", path: path)
    }
    do throws(LogStoreError) {
      core = try PageCore(path: path, mode: mode, options: options, at: moment) {
        RecordModel(startHelper: options.startHelper)
      }
    } catch {
      guard error.code == .notKept else { throw error }
      throw try PageHistory.range(of: path, options: options).error(path)
    }
    let unowned = core
    unsafe core.onCompactionDue = { [weak unowned] force in unowned?.compactIfDue(force: force) }
  }

  /// Opens a page without blocking the caller's thread.
  public static func open(
    path: String, mode: OpenMode = .create, options: PageOptions = PageOptions(), at moment: Moment = .now
  ) async throws(LogStoreError) -> Page {
    try await offPool { () throws(LogStoreError) in
      try Page(path: path, mode: mode, options: options, at: moment)
    }
  }

  public var path: String { core.path }

  /// The page's identity, which its files carry.
  public var id: PageID? {
    core.log.withLock { $0.segments.last?.journal.header.id } ?? core.opening.withLock { $0.id }
  }

  /// What opening found and did.
  public var report: RecoveryReport { core.opening.withLock { $0.report } }

  /// Where the log stands.
  public var position: Position { core.log.withLock { $0.position } }

  /// Up to where the log is known to be durable.
  public var durablePosition: Position { core.durablePosition }

  /// What ``Durability/power`` comes to on this file system: weaker only where the options accept it.
  public var durability: Durability { core.opening.withLock { $0.durability } }

  // MARK: Writing

  /// Writes a batch: all of it or nothing.
  ///
  /// - Parameters:
  ///   - batch: the operations; an empty one writes nothing.
  ///   - durability: what the write survives once this returns; nil for the options' default.
  ///   - expecting: the position that the page must have; nil if any will do.
  /// - Returns: the position behind the batch.
  /// - Throws: `conflict` and `historyChanged` where the page is elsewhere, `noSpace` where nothing was written, `io` and
  ///   `unavailable` where nothing was either, since the page's files could not be looked at, `outcomeUnknown` where that
  ///   cannot be said (then see `recover()`), `storeReplaced`, `closed`, `suspended`, `readOnly`, `wrongState`.
  /// - Complexity: the batch's bytes, whatever the page's size.
  @discardableResult
  public func write(
    _ batch: WriteBatch, durability: Durability? = nil, expecting: Position? = nil
  ) throws(LogStoreError) -> Position {
    try core.write(batch, durability, expecting)
  }

  /// Writes a batch without blocking; otherwise the same.
  ///
  /// Cancelling the task withdraws a batch that nobody has begun to write (`cancelled`), and otherwise only waits for it.
  @discardableResult
  public func write(
    _ batch: WriteBatch, durability: Durability? = nil, expecting: Position? = nil
  ) async throws(LogStoreError) -> Position {
    try await core.write(batch, durability, expecting)
  }

  /// Puts one record: replaces its value in place, or inserts it at the end.
  @inlinable
  @discardableResult
  public func put(
    _ value: some ByteSource, for key: some ByteSource, durability: Durability? = nil
  ) throws(LogStoreError) -> Position {
    try key.withByteSpan { (key) throws(LogStoreError) in
      try value.withByteSpan { (value) throws(LogStoreError) in try put(span: value, forSpan: key, durability) }
    }
  }

  @usableFromInline
  func put(span value: RawSpan, forSpan key: RawSpan, _ durability: Durability?) throws(LogStoreError) -> Position {
    try core.put(value, for: key, durability)
  }

  /// Puts one record without blocking.
  @discardableResult
  public func put(
    _ value: some ByteSource, for key: some ByteSource, durability: Durability? = nil
  ) async throws(LogStoreError) -> Position {
    var batch = WriteBatch()
    try batch.put(value, for: key)
    return try await write(batch, durability: durability)
  }

  /// Removes one record. An absent key does nothing.
  @discardableResult
  public func remove(_ key: some ByteSource, durability: Durability? = nil) throws(LogStoreError) -> Position {
    var batch = WriteBatch()
    try batch.remove(key)
    return try write(batch, durability: durability)
  }

  /// Removes one record without blocking.
  @discardableResult
  public func remove(_ key: some ByteSource, durability: Durability? = nil) async throws(LogStoreError) -> Position {
    var batch = WriteBatch()
    try batch.remove(key)
    return try await write(batch, durability: durability)
  }

  /// Makes everything written so far survive a power cut.
  ///
  /// - Returns: the position that is durable.
  /// - Throws: `outcomeUnknown`; then see `recover()`.
  @discardableResult
  public func sync() throws(LogStoreError) -> Position { try core.sync() }

  @discardableResult
  public func sync() async throws(LogStoreError) -> Position {
    try await offPool { () throws(LogStoreError) in try self.core.sync() }
  }

  // MARK: Reading

  /// The page as it is now.
  ///
  /// - Complexity: O(1), and what was written since the last view.
  public func view() throws(LogStoreError) -> PageView { try core.view() }

  public func view() async throws(LogStoreError) -> PageView {
    try await offPool { () throws(LogStoreError) in try self.core.view() }
  }

  // MARK: Compacting

  /// Folds the journal into a new snapshot, and removes what retention no longer keeps.
  ///
  /// Readers and writers go on; writers wait only while the journal is switched.
  ///
  /// - Parameters:
  ///   - keep: what is left of the past; nil for the options' setting.
  ///   - progress: called every few MiB; returns false to cancel, which leaves the page as it was.
  /// - Throws: `busy`, `cancelled`, `noSpace`, `damaged` where a record can be read nowhere, and what writing throws.
  @discardableResult
  public func compact(
    keep: Retention? = nil, progress: ProgressHandler? = nil
  ) throws(LogStoreError) -> CompactionSummary {
    try core.compact(keep: keep, progress: progress)
  }

  /// Compacts without blocking. Cancelling the task cancels the compaction.
  @discardableResult
  public func compact(
    keep: Retention? = nil, progress: ProgressHandler? = nil
  ) async throws(LogStoreError) -> CompactionSummary {
    let isCancelled = CancellationFlag()
    return try await withTaskCancellation(isCancelled) { () throws(LogStoreError) in
      try self.core.compact(keep: keep) { made in
        !isCancelled.isSet && (progress?(made) ?? true)
      }
    }
  }

  /// What `compact(keep:progress:)` would free. Reads every live record.
  public func compactionEstimate(keep: Retention? = nil) throws(LogStoreError) -> CompactionSummary {
    try core.compactionEstimate(keep: keep)
  }

  /// Drops the losses that earlier recoveries recorded, by a compaction that does not hand them down.
  ///
  /// - Returns: what is no longer reported from now on.
  public func forgetLosses(progress: ProgressHandler? = nil) throws(LogStoreError) -> [Finding] {
    let losses = core.opening.withLock { $0.losses }
    guard !losses.isEmpty else { return [] }
    _ = try core.compact(keep: nil, forgetLosses: true, progress: progress)
    return losses.map { Finding(recorded: $0) }
  }

  // MARK: Living on

  /// Looks again at a page that was opened for reading: shows what a writer has made of it since.
  ///
  /// Does nothing for a writer, which always sees its own page.
  ///
  /// - Complexity: what was written since the snapshot.
  public func refresh() throws(LogStoreError) { try core.refresh() }

  public func refresh() async throws(LogStoreError) {
    try await offPool { () throws(LogStoreError) in try self.core.refresh() }
  }

  /// The way out of `outcomeUnknown`: starts a new journal with everything since the last durable position, from memory.
  ///
  /// Does nothing where nothing has failed.
  public func recover() throws(LogStoreError) { try core.recover() }

  public func recover() async throws(LogStoreError) {
    try await offPool { () throws(LogStoreError) in try self.core.recover() }
  }

  /// Makes everything durable, says so in the journal, and lets go of the lock. What is in memory stays.
  ///
  /// For an app that goes to the background, where holding a file's lock costs its life.
  public func suspend() throws(LogStoreError) { try core.suspend() }

  public func suspend() async throws(LogStoreError) {
    try await offPool { () throws(LogStoreError) in try self.core.suspend() }
  }

  /// Takes the lock again. Where somebody else has written meanwhile, this is an opening like any other.
  public func resume() throws(LogStoreError) { try core.resume() }

  public func resume() async throws(LogStoreError) {
    try await offPool { () throws(LogStoreError) in try self.core.resume() }
  }

  /// Makes everything durable, says so in the journal, and lets go of the page. Views stay readable.
  ///
  /// A second call does nothing. A progress handler of `compact(keep:progress:)` cannot close the page (`busy`).
  public func close() throws(LogStoreError) {
    try core.closeCompacted()
  }

  public func close() async throws(LogStoreError) {
    try await offPool { () throws(LogStoreError) in try self.close() }
  }
}
