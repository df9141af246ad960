/// The losses that count in a chain of journals (SPEC.md, sections 4 and 7).
enum RecordedLosses {
  /// Those that the base hands down and those of the journals, oldest first, each once.
  ///
  /// A loss that stands in bytes which a later one skips does not count, so the journals are asked from the newest back.
  /// - Parameters:
  ///   - successor: the journal behind the last one, where the chain is only a part of the page's.
  ///   - goesOn: asked now and then while that takes long; false cancels.
  static func all(
    handedDown: [LossRecord], _ journals: [JournalFile], _ successor: JournalFile? = nil, goesOn: (() -> Bool)? = nil
  ) throws(LogStoreError) -> [LossRecord] {
    var known = LossesByJournal(handedDown)
    var named: [[LossRecord]] = []
    var next: JournalFile?
    for journal in (journals + (successor.map { [$0] } ?? [])).reversed() {
      // Where there is no chain, the one behind need not be the one that follows.
      let successor = next.flatMap { $0.header.follows(journal.header) ? $0 : nil }
      let found = try journal.losses(skipping: known.naming(journal), before: successor, goesOn: goesOn)
      known.add(found)
      named.append(found)
      next = journal
    }
    var seen: Set<LossRecord> = []
    return (handedDown + named.reversed().joined()).filter { seen.insert($0).inserted }
  }
}
