/// What ends a writer: a failed write or sync, and files that were exchanged under it.
extension LogWriter {
  /// Whether writes go on. A sync beside the writers may have failed since the last group.
  @inline(__always)
  func checkUsable() throws(LogStoreError) { if poison != nil || durable.hasFailed { try refuse() } }

  private func refuse() throws(LogStoreError) {
    guard poison != nil || durable.hasFailed, let failure = poison ?? durable.withLock({ $0.failure }) else { return }
    if poison == nil { setPoison(failure) }
    throw failure
  }

  func fail(_ error: StorageError, _ what: String) -> LogStoreError {
    let failure = outcomeUnknown(error, what)
    setPoison(failure)
    return failure
  }

  func setPoison(_ failure: LogStoreError) {
    poison = failure
    let known = durable.withLock {
      $0.failure = failure
      return $0
    }
    if failure.code == .outcomeUnknown, let journal { journal.file.preserve(tail.preserved(from: known.end)) }
  }

  func outcomeUnknown(_ error: StorageError, _ what: String) -> LogStoreError {
    let known = durable.withLock { $0 }
    return LogStoreError(
      .outcomeUnknown,
      "\(what) (\(error.reason)): what was not durable before may be lost; durable is everything up to LSN \(known.lsn). "
        + "Call recover() to go on from memory in a new journal",
      path: error.path, offset: known.end, lsn: known.lsn, errno: error.errno, cause: error)
  }

  /// Sees to it that the journal's name still is the journal's file; otherwise nothing can be written any more. A look that
  /// fails tells nothing, and poisons nothing. Between syncs one is good for 10 ms: it costs a third of a write.
  func lookAround(_ journal: JournalFile) throws(LogStoreError) {
    let named = try mapped { () throws(StorageError) in try directory.status(of: journal.name) }
    if let named, named.inode == journal.status.inode, named.kind == .file {
      lastLookTime = storage.monotonicClock()
      return
    }
    let replaced = LogStoreError(
      .storeReplaced,
      "the page's files were removed or replaced under the running engine; close the page and open what is there now",
      path: journal.path, lsn: lsn)
    setPoison(replaced)
    throw replaced
  }
}
