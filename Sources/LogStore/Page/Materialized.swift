/// A page's state in memory: a model, and how far it has come in the log.
///
/// Invariant behind the unchecked conformance: used only under the lock of the page that owns it.
final class Materialized<Model: PageModel>: @unchecked Sendable {
  let model: Model
  private(set) var base: SnapshotBase?
  /// The journals that locations of records refer to, by index.
  private(set) var files: [JournalFile] = []
  private(set) var position = Position(salt: 0, lsn: 0)
  /// How far the last of `files` has been taken in.
  private var taken = UInt64(Limits.headerBytes)
  private var isStale = false

  init(_ model: Model, base: SnapshotBase?, files: [JournalFile], taken: UInt64, position: Position) {
    self.model = model
    self.base = base
    self.files = files
    self.taken = taken
    self.position = position
  }

  /// Takes in what the log has gained. What waits in the journal is read back from it, in bulk.
  func catchUp(_ log: LogSegments) throws(LogStoreError) {
    if isStale || !isOnTheWay(to: log) { try restart(onto: base, log) }
    isStale = true
    var index = max(files.count - 1, 0)
    while index < log.segments.count {
      let segment = log.segments[index]
      if index == files.count { begin(segment) }
      if taken < segment.end {
        var walk = JournalWalk(segment.journal.reader(from: taken, limit: segment.end), from: taken, lsn: position.lsn)
        walk.isSealed = true
        walk.policy = .strict
        walk.skips = segment.skips
        try model.replay(&walk, file: index)
        taken = segment.end
        position.lsn = segment.lsn
      }
      index += 1
    }
    isStale = false
  }

  private func begin(_ segment: LogSegments.Segment) {
    files.append(segment.journal)
    let header = segment.journal.header
    // What the journal carried on was taken in from its predecessor, or has still to be.
    taken = position.lsn == segment.carriedLSN ? header.initialLength : UInt64(Limits.headerBytes)
    position.salt = header.salt
  }

  /// Whether what was taken in is a part of what the log now says: a way out of a failed sync may have replaced some.
  private func isOnTheWay(to log: LogSegments) -> Bool {
    guard files.count <= log.segments.count else { return false }
    for (file, segment) in zip(files, log.segments) where file.generation != segment.journal.generation { return false }
    guard files.count < log.segments.count else { return true }
    let next = log.segments[files.count]
    if files.isEmpty || position.lsn == next.carriedLSN { return true }
    let last = log.segments[files.count - 1]
    return taken <= last.end
  }

  /// Starts again from a base: after a compaction, or where what was taken in is no longer what the log says.
  func restart(onto base: SnapshotBase?, _ log: LogSegments) throws(LogStoreError) {
    isStale = true
    // In front of what can fail: the next try begins with this base, not with the one before it, where the log no longer
    // leads on from.
    self.base = base
    files = []
    taken = UInt64(Limits.headerBytes)
    position = Position(salt: log.baseSalt, lsn: log.baseLSN)
    try model.rebase(onto: base)
    isStale = false
  }
}
