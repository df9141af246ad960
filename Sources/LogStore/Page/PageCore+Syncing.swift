internal import Synchronization

/// Durability beside the writers, idle marks, and when to look whether a compaction is due.
extension PageCore {
  /// Sees to what follows a group that `writer` has written into `journal`. Holds the baton.
  @inline(__always)
  func afterWrite(_ writer: LogWriter, _ journal: JournalFile, _ durability: Durability) {
    if durability == .process || !writer.isFull(durability) {
      let durableEnd = writer.durable.end
      let unsynced = writer.end - min(durableEnd, writer.end)
      let limit = UInt64(max(options.syncAfterBytes, 0))
      if isSyncDue.raise() { syncInTime() }
      if unsynced >= limit { syncForRoom(writer, journal, far: unsynced / 4 >= limit) }
    } else {
      armIdleMark()
    }
    if options.compaction.isAutomatic { lookForCompaction(writer, journal) }
  }

  private func syncInTime() {
    queue.perform(after: Int(options.syncAfter.nanoseconds)) { [weak self] in
      self?.isSyncDue.lower()
      self?.syncBeside()
    }
  }

  /// More bytes wait for a sync than are to be kept in memory.
  private func syncForRoom(_ writer: LogWriter, _ journal: JournalFile, far: Bool) {
    if isSyncing.raise() {
      queue.perform { [weak self] in
        defer { self?.isSyncing.lower() }
        self?.syncBeside()
      }
    }
    guard far else { return }
    // The medium is slower than the writers: they wait for it rather than fill the memory.
    do throws(LogStoreError) {
      try writer.sync(writer.level, of: journal, upTo: writer.end, lsn: writer.lsn)
    } catch { poison(writer, error) }
  }

  /// Makes what was written durable without stopping the writers.
  private func syncBeside() {
    guard phase.isOpen, let target = log.withLock({ $0.segments.last }) else { return }
    // The writer is read under the baton, and used beside it: syncs are safe from any thread.
    guard let writer = queue.withBaton({ self.writer }) else { return }
    guard writer.durable.withLock({ $0.generation == target.journal.generation && $0.end < target.end }) else {
      // Somebody else's sync came first. The journal is still to say so.
      return armIdleMark()
    }
    do throws(LogStoreError) {
      try writer.sync(writer.level, of: target.journal, upTo: target.end, lsn: target.lsn)
    } catch {
      return queue.withBaton { poison(writer, error) }
    }
    armIdleMark()
  }

  /// A sync for which no write waits has failed: from here on readers see what is in memory, since the file may show old
  /// bytes. Holds the baton.
  private func poison(_ writer: LogWriter, _ error: LogStoreError) {
    do throws(LogStoreError) { try writer.checkUsable() } catch {}
    emit(.poisoned(error))
  }

  private func armIdleMark() {
    guard isIdleDue.raise() else { return }
    queue.perform(after: Int(options.syncAfter.nanoseconds)) { [weak self] in self?.markIdle() }
  }

  /// Once nobody writes, says in the journal that all of it is durable: from then on damage cannot pass for a torn tail.
  private func markIdle() {
    let lsn = log.withLock { $0.position.lsn }
    // Closing and suspending write a mark of their own; what is written after a resumption asks for the next.
    guard phase.isOpen else { return isIdleDue.lower() }
    guard idleLSN.exchange(lsn, ordering: .relaxed) == lsn else {
      queue.perform(after: Int(options.syncAfter.nanoseconds)) { [weak self] in self?.markIdle() }
      return
    }
    isIdleDue.lower()
    queue.withBaton {
      guard let writer, phase.isOpen else { return }
      do throws(LogStoreError) {
        try writer.writeMark(closed: false)
      } catch { emit(.poisoned(error)) }
      follow(writer)
    }
  }

  /// Asks for a compaction once the log has grown to where one is due. Holds the baton.
  private func lookForCompaction(_ writer: LogWriter, _ journal: JournalFile) {
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
}

extension Duration {
  /// As many as there are; `Int64.max`, which is centuries, where they are more.
  var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, overflowToo) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
    return overflow || overflowToo ? (seconds < 0 ? .min : .max) : sum
  }
}
