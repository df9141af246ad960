/// The losses that count in a chain of journals (SPEC.md, sections 4 and 7).
enum RecordedLosses {
  /// Those of the base and of the journals, oldest first, each once.
  ///
  /// A loss that stands in bytes which a later one skips does not count, so the journals are asked from the newest back.
  /// - Parameter successor: the journal behind the last one, where the chain is only a part of the page's.
  static func all(
    base: SnapshotReader?, _ journals: [JournalFile], _ successor: JournalFile? = nil
  ) throws(LogStoreError) -> [LossRecord] {
    let handedDown = try base?.losses() ?? []
    var known = handedDown
    var named: [[LossRecord]] = []
    var next = successor
    if let successor { named.append(try losses(of: successor, nil, &known)) }
    for journal in journals.reversed() {
      named.append(try losses(of: journal, next, &known))
      next = journal
    }
    var all: [LossRecord] = []
    for loss in handedDown + named.reversed().joined() where !all.contains(loss) { all.append(loss) }
    return all
  }

  private static func losses(
    of journal: JournalFile, _ successor: JournalFile?, _ known: inout [LossRecord]
  ) throws(LogStoreError) -> [LossRecord] {
    let found = try journal.losses(skipping: known.naming(journal), before: successor)
    known += found
    return found
  }
}

extension [LossRecord] {
  /// Those that dropped bytes of the journal, in the order of its file.
  func naming(_ journal: JournalFile) -> [LossRecord] {
    filter { $0.generation == journal.generation && $0.salt == journal.header.salt }.sorted { $0.start < $1.start }
  }
}
