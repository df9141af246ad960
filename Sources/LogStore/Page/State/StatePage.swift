internal import Synchronization

/// A page that holds an application's own state instead of a table of records.
///
/// Everything else is as with ``Page``, whose documentation holds here too. Because one operation may depend on another,
/// opening stops in front of damage (``RecoveryPolicy/pointInTime``) unless the options say otherwise.
public final class StatePage<State: PageState>: Sendable {
  let core: PageCore<StateModel<State>>

  /// Opens a page; see ``Page/init(path:mode:options:at:)``.
  ///
  /// - Throws: also `wrongState` where the page holds something else.
  public init(
    path: String, mode: OpenMode = .create, options: PageOptions = PageOptions()
  ) throws(LogStoreError) {
    precondition(State.identifier != 0, "an application's state has an identifier other than 0")
    core = try PageCore(path: path, mode: mode, options: options, at: .now) { StateModel<State>() }
    let unowned = core
    unsafe core.onCompactionDue = { [weak unowned] force in unowned?.compactIfDue(force: force) }
  }

  /// Opens a page without blocking the caller's thread.
  public static func open(
    path: String, mode: OpenMode = .create, options: PageOptions = PageOptions()
  ) async throws(LogStoreError) -> StatePage {
    try await offPool { () throws(LogStoreError) in try StatePage(path: path, mode: mode, options: options) }
  }

  public var path: String { core.path }
  /// What opening found and did.
  public var report: RecoveryReport { core.opening.withLock { $0.report } }
  /// Where the log stands.
  public var position: Position { core.log.withLock { $0.position } }
  /// Up to where the log is known to be durable.
  public var durablePosition: Position { core.durablePosition }

  /// The state as it is now.
  ///
  /// - Complexity: what was written since the last call, and one copy of the state.
  public func state() throws(LogStoreError) -> State {
    try core.checkOpen()
    return try core.materialized.withLock { (state) throws(LogStoreError) in
      try state.catchUp(core.log.withLock { $0 })
      return state.model.value
    }
  }

  public func state() async throws(LogStoreError) -> State {
    try await offPool { () throws(LogStoreError) in try self.state() }
  }

  /// Writes a batch of the application's frames (``WriteBatch/append(_:_:)``): all of it or nothing.
  @discardableResult
  public func write(
    _ batch: WriteBatch, durability: Durability? = nil, expecting: Position? = nil
  ) throws(LogStoreError) -> Position {
    try core.write(batch, durability, expecting)
  }

  @discardableResult
  public func write(
    _ batch: WriteBatch, durability: Durability? = nil, expecting: Position? = nil
  ) async throws(LogStoreError) -> Position {
    try await core.write(batch, durability, expecting)
  }

  /// Makes everything written so far survive a power cut.
  @discardableResult
  public func sync() throws(LogStoreError) -> Position { try core.sync() }

  @discardableResult
  public func sync() async throws(LogStoreError) -> Position {
    try await offPool { () throws(LogStoreError) in try self.core.sync() }
  }

  /// Writes the state out as a new snapshot, and removes what retention no longer keeps.
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
      try self.core.compact(keep: keep) { made in !isCancelled.isSet && (progress?(made) ?? true) }
    }
  }

  /// The way out of `outcomeUnknown`; see `recover()`.
  public func recover() throws(LogStoreError) { try core.recover() }

  /// Lets go of the lock; see `suspend()`.
  public func suspend() throws(LogStoreError) { try core.suspend() }

  /// Takes the lock again; see `resume()`.
  public func resume() throws(LogStoreError) { try core.resume() }

  /// Makes everything durable and lets go of the page.
  public func close() throws(LogStoreError) {
    try core.closeCompacted()
  }

  public func close() async throws(LogStoreError) {
    try await offPool { () throws(LogStoreError) in try self.close() }
  }
}
