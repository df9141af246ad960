internal import Synchronization

/// A batch's way into the log: alone in its writer's thread, or in a group with others.
extension PageCore {
  func write(_ batch: WriteBatch, _ durability: Durability?, _ expecting: Position?) throws(LogStoreError) -> Position {
    let wanted = durability ?? options.durability
    try check(batch)
    if queue.tryClaim() {
      defer { queue.release() }
      return try commitAlone(batch, wanted, expecting)
    }
    return try queue.answer(CommitRequest(batch, wanted, expecting)).get()
  }

  func write(
    _ batch: WriteBatch, _ durability: Durability?, _ expecting: Position?
  ) async throws(LogStoreError) -> Position {
    try check(batch)
    return try await queue.answer(CommitRequest(batch, durability ?? options.durability, expecting)).get()
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

  /// The fast way: one batch, in the caller's thread. Holds the baton.
  private func commitAlone(
    _ batch: WriteBatch, _ durability: Durability, _ expecting: Position?
  ) throws(LogStoreError) -> Position {
    if batch.isEmpty {
      try checkOpen()
      guard let writer else { throw closed }
      if let expecting { try checkExpected(expecting, stagedLSN: writer.lsn) }
      return writer.position
    }
    let frames = batch.unsealed
    return try commitAlone(durability, expecting) { writer, journal in
      writer.commitAlone(frames, durability, in: journal)
    }
  }

  /// Commits a group of one batch by `commit`. Holds the baton.
  //
  // The journal is asked for once: each look at it in the writer would count a reference up and down.
  @inline(__always)
  func commitAlone(
    _ durability: Durability, _ expecting: Position?, _ commit: (LogWriter, JournalFile) -> LogWriter.GroupResult
  ) throws(LogStoreError) -> Position {
    try checkOpen()
    guard let writer else { throw closed }
    if let expecting { try checkExpected(expecting, stagedLSN: writer.lsn) }
    let journal = try writer.usableJournal()
    switch commit(writer, journal) {
    case .written:
      follow(writer, in: journal)
      afterWrite(writer, journal, durability)
      return Position(salt: journal.header.salt, lsn: writer.lsn)
    case .refused(_, let error):
      follow(writer)
      throw error
    case .unknown(let error):
      follow(writer)
      emit(.poisoned(error))
      throw error
    }
  }

  /// Commits and answers the first of `requests`, as many as one group takes; returns how many. Holds the baton.
  func commitGroup(_ requests: ArraySlice<CommitRequest>) -> Int {
    let (writer, journal): (LogWriter, JournalFile)
    do throws(LogStoreError) {
      try checkOpen()
      guard let present = self.writer else { throw closed }
      (writer, journal) = (present, try present.beginGroup())
    } catch {
      for request in requests { request.resolve(.failure(error)) }
      return requests.count
    }
    var taken = 0
    var staged: [(request: CommitRequest, lsn: UInt64)] = []
    var level = Durability.process
    var bytes = 0
    for request in requests {
      guard bytes == 0 || bytes + request.batch.byteCount <= Limits.groupBytes else { break }
      taken += 1
      do throws(LogStoreError) {
        if let expecting = request.expecting { try checkExpected(expecting, stagedLSN: writer.stagedLSN) }
      } catch {
        request.resolve(.failure(error))
        continue
      }
      if request.batch.isEmpty {
        staged.append((request, writer.stagedLSN))
        continue
      }
      staged.append((request, writer.stage(request.batch.unsealed, in: journal)))
      bytes += request.batch.byteCount
      level = max(level, request.durability)
    }
    guard bytes > 0 else {
      writer.dropGroup()
      for (request, lsn) in staged { request.resolve(.success(Position(salt: writer.position.salt, lsn: lsn))) }
      return taken
    }
    let salt = writer.position.salt
    let result = writer.commitGroup(level, in: journal)
    follow(writer)
    switch result {
    case .written:
      afterWrite(writer, journal, level)
      for (request, lsn) in staged { request.resolve(.success(Position(salt: salt, lsn: lsn))) }
    case .refused(let standing, let error):
      for (request, lsn) in staged {
        request.resolve(lsn <= standing ? .success(Position(salt: salt, lsn: lsn)) : .failure(error))
      }
    case .unknown(let error):
      for (request, _) in staged { request.resolve(.failure(error)) }
      emit(.poisoned(error))
    }
    return taken
  }

  /// Whether the page stands where the writer believes. `stagedLSN` counts the batches in front in the same group.
  private func checkExpected(_ expecting: Position, stagedLSN: UInt64) throws(LogStoreError) {
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
}
