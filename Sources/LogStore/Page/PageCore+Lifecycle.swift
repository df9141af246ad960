internal import Dispatch
internal import Synchronization

/// Recovering, suspending, resuming, closing.
extension PageCore {
  func recover() throws(LogStoreError) {
    try checkOpen()
    try queue.withBaton { () throws(LogStoreError) in
      guard let writer else { throw LogStoreError(.readOnly, "the page was opened for reading", path: path) }
      guard writer.poison != nil || writer.mustStart || writer.durable.hasFailed else { return }
      try writer.recover()
      follow(writer)
    }
  }

  func close() throws(LogStoreError) {
    try refuseInsideCompaction()
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
    try refuseInsideCompaction()
    guard phase.exchange(.open, for: .suspended) else { return try checkNotClosed() }
    endRunningCompaction()
    try queue.withBaton { () throws(LogStoreError) in
      defer { directory.unlock() }
      guard let writer else { return }
      try finishLog(writer)
    }
  }

  /// What waits for a compaction to end cannot be done by its own progress handler.
  func refuseInsideCompaction() throws(LogStoreError) {
    guard compaction.withLock({ $0.worker == currentThread }) else { return }
    throw LogStoreError(
      .busy,
      "a compaction's progress handler cannot close or suspend the page; return false, and do so when it has ended",
      path: path)
  }

  /// Cancels a compaction that runs, and waits for it: it uses the directory.
  private func endRunningCompaction() { awaitRunningCompaction(cancelling: true) }

  func awaitRunningCompaction(cancelling: Bool = false) {
    let turn: DispatchSemaphore? = compaction.withLock {
      guard $0.isRunning else { return nil }
      if cancelling { $0.isCancelled = true }
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
      if isReadOnly { return goOn() }
      if let writer, try isUnchanged(writer) {
        guard try mapped({ () throws(StorageError) in try directory.lock() }) else {
          throw LogStoreError(.locked, "another writer has taken the page meanwhile; close it there", path: path)
        }
        var goesOn = false
        defer { if !goesOn { directory.unlock() } }
        if try isUnchanged(writer) {
          goesOn = true
          writer.reopened()
          return goOn()
        }
      }
      try reopen()
      goOn()
    }
  }

  /// Observers of a suspended page wait for this, of one that only reads too.
  private func goOn() {
    _ = phase.exchange(.suspended, for: .open)
    observers.notify()
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
      path: path, mode: isReadOnly ? .readOnly : .readWrite, options: options, onHeal: { heal.notify($0, $1) })
    let session = try opener.open(makeModel())
    guard session.id == opening.withLock({ $0.id }) else {
      session.directory.close()
      throw LogStoreError(
        .storeReplaced, "another page stands at the path now; close this one and open what is there", path: path)
    }
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
}
