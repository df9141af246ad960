internal import Synchronization

/// Making durable what was written.
extension LogWriter {
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

  /// Whether something is shown that only a new journal, not yet started, will make durable, or keep from coming back.
  var mustStart: Bool { pending.map { !$0.carried.isEmpty || $0.endsDoubt } ?? false }

  /// Makes everything written so far durable.
  func syncAll() throws(LogStoreError) {
    try checkUsable()
    if mustStart { _ = try startIfPending() }
    guard let journal else { return }
    try lookAround(journal)
    do {
      try sync(level, of: journal, upTo: end, lsn: lsn)
    } catch {
      setPoison(error)
      throw error
    }
    tail.rest(at: end, durableEnd: durable.end)
  }
}
