internal import Synchronization

/// How far back the kept generations of a page reach.
struct PageHistory {
  var oldest: UInt64
  var newest: UInt64

  static func range(of path: String, options: PageOptions) throws(LogStoreError) -> PageHistory {
    let page = try PageCore(path: path, mode: .readOnly, options: options, at: .now) { RecordModel() }
    defer { do { try page.close() } catch {} }
    let files = try PageFiles(page.directory, cacheBytes: 0)
    var oldest = page.log.withLock { $0.baseLSN }
    var number = page.log.withLock { $0.segments.first?.journal.generation }
    // Back through the predecessors, as long as they are there.
    while let generation = number, let journal = try files.journal(generation).file {
      if let snapshot = try files.snapshot(generation).file, snapshot.header.journalSalt == journal.header.salt {
        oldest = min(oldest, snapshot.header.lsn)
      }
      if journal.header.predecessor == nil { oldest = 0 }
      number = journal.header.predecessor?.generation
      if journal.header.predecessor?.end == 0 { break }
    }
    return PageHistory(oldest: oldest, newest: page.log.withLock { $0.position.lsn })
  }

  func error(_ path: String) -> LogStoreError {
    LogStoreError(
      .notKept, "the page can be shown from LSN \(oldest) to \(newest); keep more generations to look further back",
      path: path,
      lsn: oldest)
  }
}
