internal import Synchronization

/// How far back the kept generations of a page reach.
struct PageHistory {
  var oldest: UInt64
  var newest: UInt64
  /// When the oldest state was the present one, in nanoseconds since 1970.
  var since: Int64

  static func range(of path: String, options: PageOptions) throws(LogStoreError) -> PageHistory {
    let page = try PageCore(path: path, mode: .readOnly, options: options, at: .now) { RecordModel() }
    defer { do { try page.close() } catch {} }
    let files = try PageFiles(page.directory, cacheBytes: 0)
    var oldest = page.log.withLock { $0.baseLSN }
    var number = page.log.withLock { $0.segments.first?.journal.generation }
    var since = Int64.max
    // Back through the predecessors, as long as they are there.
    while let generation = number, let journal = try files.look(atJournal: generation).file?.header {
      if let snapshot = try files.look(atSnapshot: generation).file, snapshot.journalSalt == journal.salt {
        oldest = min(oldest, snapshot.lsn)
        since = min(since, snapshot.time)
      }
      if journal.predecessor == nil {
        oldest = 0
        since = min(since, journal.time)
      }
      number = journal.predecessor?.generation
      if journal.predecessor?.end == 0 { break }
    }
    return PageHistory(oldest: oldest, newest: page.log.withLock { $0.position.lsn }, since: since)
  }

  func error(_ path: String) -> LogStoreError {
    let when = since == .max ? "" : " (\(PageHistory.text(since)))"
    return LogStoreError(
      .notKept,
      "the page can be shown from LSN \(oldest)\(when) to \(newest); keep more generations to look further back",
      path: path, lsn: oldest)
  }

  /// A moment as RFC 3339 writes it, to the second, in UTC.
  private static func text(_ nanoseconds: Int64) -> String {
    let seconds = nanoseconds / 1_000_000_000 - (nanoseconds % 1_000_000_000 < 0 ? 1 : 0)
    let days = seconds / 86_400 - (seconds % 86_400 < 0 ? 1 : 0)
    let time = seconds - days * 86_400
    // Years are counted from March, in eras of 400 years, so that the leap day is the last of its year.
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let day = shifted - era * 146_097
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365
    let dayOfYear = day - (365 * year + year / 4 - year / 100)
    let month = (5 * dayOfYear + 2) / 153
    func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
    let date =
      "\(year + era * 400 + (month >= 10 ? 1 : 0))-" + two(month < 10 ? month + 3 : month - 9) + "-"
      + two(dayOfYear - (153 * month + 2) / 5 + 1)
    return date + "T" + two(time / 3600) + ":" + two(time / 60 % 60) + ":" + two(time % 60) + "Z"
  }
}
