internal import Dispatch
internal import Synchronization

/// What a model needs to be compacted.
protocol CompactableModel: PageModel {
  /// An immutable copy of the state, cheap to take.
  associatedtype Image: Sendable
  static func image(_ state: Materialized<Self>) -> Image
  /// Writes the whole state. `progress` is called with bytes written so far; it throws to cancel.
  static func write(_ image: Image, to writer: SnapshotWriter, progress: (UInt64) throws -> Void) throws
  static func records(in image: Image) -> UInt64
  /// About how many bytes the snapshot will have.
  static func estimatedBytes(_ image: Image) throws(LogStoreError) -> UInt64
}

extension PageCore where Model: CompactableModel {
  /// Folds the journal into a new snapshot. Writers wait only while the journal is switched.
  func compact(
    keep: Retention?, forgetLosses: Bool = false, progress: ProgressHandler? = nil
  ) throws(LogStoreError) -> CompactionSummary {
    try checkOpen()
    try beginCompaction()
    do throws(LogStoreError) {
      let summary = try runCompaction(keep: keep ?? options.retention, forgetLosses: forgetLosses, progress: progress)
      endCompaction { $0.succeeded() }
      heal.reset()
      emit(.compactionFinished(summary))
      return summary
    } catch {
      endCompaction { _ in }
      guard error.code != .cancelled, error.code != .closed, error.code != .suspended else { throw error }
      let wait = compaction.withLock { $0.failed(at: options.storage.monotonicClock()) }
      emit(.compactionFailed(error, retryAfter: .nanoseconds(wait)))
      throw error
    }
  }

  private func beginCompaction() throws(LogStoreError) {
    let began = compaction.withLock {
      guard !$0.isRunning else { return false }
      $0.isRunning = true
      $0.worker = currentThread
      $0.isCancelled = false
      return true
    }
    guard began else { throw LogStoreError(.busy, "a compaction is already running", path: path) }
  }

  private func endCompaction(_ note: (inout CompactionState) -> Void) {
    let waiting = compaction.withLock { state in
      note(&state)
      state.isRunning = false
      state.worker = nil
      defer { state.waiting = [] }
      return state.waiting
    }
    for turn in waiting { turn.signal() }
  }

  /// Starts a compaction by itself where the policy asks for one.
  func compactIfDue(force: Bool) {
    let (bytes, journals, snapshot): (UInt64, Int, UInt64) = log.withLock {
      ($0.bytes, $0.segments.count, $0.baseBytes)
    }
    guard force || options.compaction.isDue(bytes: bytes, journals: journals, snapshotBytes: snapshot) else { return }
    guard !isReadOnly, options.compaction.isAutomatic else { return }
    let now = options.storage.monotonicClock()
    let starts = compaction.withLock { state in
      guard !state.isRunning, !state.isScheduled, now >= state.notBefore else { return false }
      state.isScheduled = true
      return true
    }
    guard starts else { return }
    queue.perform { [weak self] in self?.compactByItself() }
  }

  private func compactByItself() {
    defer { compaction.withLock { $0.isScheduled = false } }
    // A failure has been told to the options' event handler, and holds the next try off.
    do { _ = try compact(keep: nil) } catch {}
  }

  /// Closes the page, with a last compaction in front where the options ask for one. The page is closed also where that
  /// fails, of which nothing is lost: what time or space may mend is no error then.
  func closeCompacted() throws(LogStoreError) {
    try refuseInsideCompaction()
    var failure: LogStoreError?
    if options.compaction.atClose, phase.isOpen, !isReadOnly {
      // One that runs has done most of the work; closing would take it back.
      awaitRunningCompaction()
    }
    if options.compaction.atClose, phase.isOpen, !isReadOnly,
      log.withLock({ $0.position.lsn != $0.baseLSN || $0.segments.count > 1 })
    {
      do throws(LogStoreError) {
        _ = try compact(keep: nil)
      } catch {
        // Cancelled is what another thread's closing makes of it.
        if ![.noSpace, .busy, .unavailable, .cancelled, .closed, .suspended].contains(error.code) { failure = error }
      }
    }
    try close()
    if let failure { throw failure }
  }

  // MARK: The three steps

  private func runCompaction(
    keep: Retention, forgetLosses: Bool, progress: ProgressHandler?
  ) throws(LogStoreError) -> CompactionSummary {
    // Beside the writers: most of what the switch would have to wait for.
    _ = try sync()
    try materialized.withLock { (state) throws(LogStoreError) in try state.catchUp(log.withLock { $0 }) }

    let (image, journal, lsn) = try withWriter { (writer) throws(LogStoreError) in
      try keepQuarantine()
      let journal = try writer.switchJournal()
      let known = log.withLock {
        $0.follow(writer)
        return $0
      }
      let image = try materialized.withLock { (state) throws(LogStoreError) in
        try state.catchUp(known)
        return Model.image(state)
      }
      return (image, journal, writer.lsn)
    }
    emit(.compactionStarted(generation: journal.generation))
    let bytesBefore = try directoryBytes()
    let recorded = opening.withLock { $0.losses }
    let losses = forgetLosses ? [] : recorded
    let snapshot = try writeSnapshot(image, journal, lsn, losses, progress)
    if forgetLosses { opening.withLock { $0.losses = [] } }
    try install(snapshot, journal)
    var summary = CompactionSummary()
    summary.generation = journal.generation
    summary.lsn = lsn
    summary.records = Model.records(in: image)
    summary.snapshotBytes = snapshot.size
    summary.bytesBefore = bytesBefore
    retire(keep, recorded, &summary)
    summary.bytesAfter = try directoryBytes()
    return summary
  }

  /// Writes the snapshot under a temporary name, reads it back, gives it its name.
  private func writeSnapshot(
    _ image: Model.Image, _ journal: JournalFile, _ lsn: UInt64, _ losses: [LossRecord], _ progress: ProgressHandler?
  ) throws(LogStoreError) -> SnapshotReader {
    let header = SnapshotHeader(
      id: journal.header.id, generation: journal.generation, salt: options.storage.random(), lsn: lsn,
      journalSalt: journal.header.salt, time: journal.header.time, state: journal.header.state)
    let name = PageFile.snapshot(journal.generation).name
    var settings = SnapshotWriter.Settings()
    settings.compression = options.compression
    settings.durability = opening.withLock { $0.durability }
    if let schedule = options.schedule { settings.startHelper = HelperStart(schedule.start) }
    if let readBack = options.readBack {
      settings.readBackBytes = readBack.bytes
      if readBack.isInline { settings.startHelper = HelperStart { $0() } }
    }
    let writer = try SnapshotWriter(
      directory: directory, name: name, header: header, losses: losses, settings: settings)
    let total = log.withLock { $0.baseBytes + $0.bytes }
    do {
      try Model.write(image, to: writer) { done in
        try self.checkCompaction(progress, Progress(.writing, completedBytes: done, totalBytes: max(total, done)))
      }
      _ = try writer.finish { made in
        do {
          try self.checkCompaction(progress, made)
          return true
        } catch {
          return false
        }
      }
      do {
        try directory.rename(writer.temporaryName, to: name)
      } catch {
        throw LogStoreError(error)
      }
    } catch {
      writer.cancel()
      throw LogStoreError.own(error, "the snapshot cannot be written", path: path)
    }
    try mapped { () throws(StorageError) in try directory.sync(opening.withLock { $0.durability }) }
    let file = try mapped { () throws(StorageError) in try directory.open(name, .read) }
    return try SnapshotReader(
      file: file, name: name, path: directory.path(of: name), generation: journal.generation,
      cacheBytes: options.cacheBytes, startHelper: options.startHelper)
  }

  private func checkCompaction(_ progress: ProgressHandler?, _ made: Progress) throws(LogStoreError) {
    if compaction.withLock({ $0.isCancelled }) {
      throw LogStoreError(.cancelled, "the compaction was cancelled; the page is as it was", path: path)
    }
    if let progress, !progress(made) {
      throw LogStoreError(.cancelled, "the compaction was cancelled; the page is as it was", path: path)
    }
  }

  /// The new snapshot becomes the base of what is in memory.
  private func install(_ snapshot: SnapshotReader, _ journal: JournalFile) throws(LogStoreError) {
    let base = Healer(path: path, options: options).base(snapshot, onHeal: { [heal] in heal.notify($0, $1) })
    try materialized.withLock { (state) throws(LogStoreError) in
      let known = log.withLock { log in
        log.segments.removeAll { $0.journal.generation < journal.generation }
        log.baseLSN = snapshot.header.lsn
        log.baseSalt = snapshot.header.journalSalt
        log.baseBytes = snapshot.size
        return log
      }
      try state.restart(onto: base, known)
    }
  }

  /// Removes what the retention does not keep. The new snapshot stands: whatever goes wrong from here on is told by events,
  /// stays for the next compaction, and makes none fail.
  private func retire(_ keep: Retention, _ losses: [LossRecord], _ summary: inout CompactionSummary) {
    let files: PageFiles
    do throws(LogStoreError) {
      files = try PageFiles(directory, cacheBytes: 0)
    } catch {
      return emit(.removalFailed(error))
    }
    let plan = Retirement(
      files: files, id: opening.withLock { $0.id }, keep: keep, generation: summary.generation,
      now: options.storage.wallClock(), ignoresGrace: isShort(ofBytes: 2 * summary.snapshotBytes), losses: losses
    ).plan()
    summary.keptFiles = plan.kept.map(\.name)
    for error in plan.failures { emit(.removalFailed(error)) }
    guard setAside(plan.setAside, &summary) else {
      summary.keptFiles += plan.removed.map(\.name)
      return
    }
    for file in plan.removed {
      do {
        try directory.remove(file.name)
        summary.removedFiles.append(file.name)
      } catch  where error.errno == StorageError.notFound {
        continue
      } catch {
        emit(.removalFailed(LogStoreError(error)))
        summary.keptFiles.append(file.name)
      }
    }
  }

  private func isShort(ofBytes wanted: UInt64) -> Bool {
    do {
      return try directory.availableBytes() < wanted
    } catch {
      // Copies under way are given their time, as where there is room.
      emit(.removalFailed(LogStoreError(error)))
      return false
    }
  }

  /// Gives what a gap has cut off its new names, durably. Until then the files around it go nowhere: without them nothing
  /// would show that no state has taken it in.
  private func setAside(_ journals: [UInt64], _ summary: inout CompactionSummary) -> Bool {
    guard !journals.isEmpty else { return true }
    var isDone = true
    for generation in journals {
      let name = PageFile.journal(generation).name
      do {
        try directory.rename(name, to: PageFile.quarantine(generation, offset: 0).name)
        summary.removedFiles.append(name)
      } catch {
        emit(.quarantineFailed(LogStoreError(error)))
        summary.keptFiles.append(name)
        // A file that has come back, and was set aside before, stands in the way of no other.
        if error.errno != StorageError.exists { isDone = false }
      }
    }
    do {
      try directory.sync(opening.withLock { $0.durability })
    } catch {
      emit(.quarantineFailed(LogStoreError(error)))
      return false
    }
    return isDone
  }

  /// What a compaction would free, judged by what is there now.
  func compactionEstimate(keep: Retention?) throws(LogStoreError) -> CompactionSummary {
    try checkOpen()
    let (image, liveBytes) = try materialized.withLock { (state) throws(LogStoreError) in
      try state.catchUp(log.withLock { $0 })
      let image = Model.image(state)
      return (image, try Model.estimatedBytes(image))
    }
    return try withDirectory { (directory) throws(LogStoreError) in
      let files = try PageFiles(directory, cacheBytes: options.cacheBytes)
      var summary = CompactionSummary()
      summary.generation = try files.listing.nextGeneration(in: path)
      summary.lsn = log.withLock { $0.position.lsn }
      summary.records = Model.records(in: image)
      summary.snapshotBytes = liveBytes
      summary.bytesBefore = try directoryBytes()
      let plan = Retirement(
        files: files, id: opening.withLock { $0.id }, keep: keep ?? options.retention, generation: summary.generation,
        now: options.storage.wallClock(), losses: opening.withLock { $0.losses }
      ).plan()
      summary.removedFiles = plan.removed.map(\.name)
      summary.keptFiles = plan.kept.map(\.name)
      var freed: UInt64 = 0
      for name in summary.removedFiles {
        let status = try mapped { () throws(StorageError) in try directory.status(of: name) }
        if let status { freed += status.size }
      }
      summary.bytesAfter = summary.bytesBefore + liveBytes + UInt64(Limits.headerBytes) - freed
      return summary
    }
  }

  private func directoryBytes() throws(LogStoreError) -> UInt64 {
    try mapped { () throws(StorageError) in
      var bytes: UInt64 = 0
      for name in try directory.list() where PageName(name) != nil {
        if let status = try directory.status(of: name) { bytes += status.size }
      }
      return bytes
    }
  }

  /// Sets aside, durably, what recovery dropped, before the files that it stands in may go.
  private func keepQuarantine() throws(LogStoreError) {
    let wanted = opening.withLock { $0.quarantine }
    guard !wanted.isEmpty else { return }
    let quarantine = Quarantine(directory: directory, level: opening.withLock { $0.durability })
    for range in wanted {
      let name = PageFile.journal(range.generation).name
      guard try mapped({ () throws(StorageError) in try directory.status(of: name) }) != nil else { continue }
      let file = try mapped { () throws(StorageError) in try directory.open(name, .read) }
      defer { file.close() }
      do throws(LogStoreError) {
        try quarantine.keep(range, from: file)
      } catch {
        emit(.quarantineFailed(error))
        throw error
      }
    }
    try mapped { () throws(StorageError) in try directory.sync(quarantine.level) }
    opening.withLock { $0.quarantine = [] }
  }
}
