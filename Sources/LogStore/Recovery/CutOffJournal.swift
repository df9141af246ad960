/// A journal that is not applied because it is missing, or something in front of it is missing or damaged. Its salt is 0
/// where its header does not say it.
struct CutOffJournal {
  var generation: UInt64
  var salt: UInt64
  /// Where it ends, or ended before it was cut; `UInt64.max` where nobody knows.
  var end: UInt64
  /// The LSN that the log had reached there, where only the journal behind it tells of it.
  var lsn: UInt64?
}

extension CutOffJournal {
  init(_ journal: JournalFile, before successor: JournalHeader? = nil) {
    let (size, expected) = (journal.status.size, journal.expectedLength(before: successor))
    // What the newest has begun with tells only that it is shorter than it was.
    let end = size >= expected ? size : successor == nil ? .max : expected
    self.init(generation: journal.generation, salt: journal.header.salt, end: end)
  }

  /// One whose header does not verify.
  init(_ generation: UInt64, size: UInt64) {
    self.init(generation: generation, salt: 0, end: size < UInt64(Limits.headerBytes) ? .max : size)
  }
}

extension Chain {
  /// Notes the journals that cut-off ones follow, where they are not there.
  ///
  /// - Parameter successors: those that are cut off, by the generation that they follow.
  mutating func noteMissing(before successors: [UInt64: JournalHeader]) {
    guard !successors.isEmpty else { return }
    var known: [UInt64: UInt64] = [:]
    for journal in journals { known[journal.generation] = journal.header.salt }
    for journal in cutOff { known[journal.generation] = journal.salt }
    let newest = journals.last?.generation ?? base?.header.generation ?? 0
    for (generation, header) in successors.sorted(by: { $0.key < $1.key }) where generation >= newest {
      guard let predecessor = header.predecessor, let end = predecessor.end else { continue }
      if let salt = known[generation], salt == predecessor.salt || salt == 0 { continue }
      cutOff.append(CutOffJournal(generation: generation, salt: predecessor.salt, end: end, lsn: header.baseLSN))
    }
  }
}
