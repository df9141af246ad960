/// What can be told of a journal by looking at it once: all but its frames.
struct JournalSight: Sendable {
  let header: JournalHeader
  /// Bytes of the file.
  let size: UInt64

  init(_ journal: JournalFile) {
    header = journal.header
    size = journal.status.size
  }
}
