internal import Synchronization

/// The journals behind the base, as far as they are committed: what readers may read.
struct LogSegments: Sendable {
  struct Segment: Sendable {
    var journal: JournalFile
    /// Where the committed log ends.
    var end: UInt64
    /// The LSN there.
    var lsn: UInt64
    /// LSNs up to this one are known here from carried batches, which the predecessor's writers also know by its salt.
    var carriedLSN: UInt64
    /// What recoveries dropped from it.
    var skips: [LossRecord] = []

    @inline(__always)
    mutating func reach(_ end: UInt64, _ lsn: UInt64) {
      self.end = end
      self.lsn = lsn
    }
  }

  var segments: [Segment] = []
  /// The LSN of the base, and the salt of the journal that the base follows.
  var baseLSN: UInt64 = 0
  var baseSalt: UInt64 = 0
  /// Bytes of the base.
  var baseBytes: UInt64 = 0

  var position: Position {
    guard let last = segments.last else { return Position(salt: baseSalt, lsn: baseLSN) }
    return Position(salt: last.journal.header.salt, lsn: last.lsn)
  }

  /// How a demanded position stands to the present one.
  enum Standing { case present, past, unknown }

  func standing(of demanded: Position) -> Standing {
    let present = position
    if demanded == present { return .present }
    guard let place = segments.firstIndex(where: { $0.journal.header.salt == demanded.salt }) else {
      let first = segments.first?.journal.header
      let isBefore = demanded.salt == baseSalt || demanded.salt == first?.predecessor?.salt
      guard isBefore, demanded.lsn <= (segments.first?.carriedLSN ?? baseLSN) else { return .unknown }
      return demanded.lsn == present.lsn ? .present : .past
    }
    // A journal's own positions, and those that its successor has carried on.
    let last =
      place + 1 < segments.count ? max(segments[place].lsn, segments[place + 1].carriedLSN) : segments[place].lsn
    guard demanded.lsn >= segments[place].journal.header.baseLSN, demanded.lsn <= last else { return .unknown }
    return demanded.lsn == present.lsn ? .present : .past
  }

  /// The same where it has gone on in `journal`, as it has as good as always.
  @inline(__always)
  mutating func follow(_ writer: LogWriter, in journal: JournalFile) {
    let last = segments.count - 1
    guard last >= 0, segments[last].journal === journal else { return follow(writer) }
    segments[last].reach(writer.end, writer.lsn)
  }

  /// Takes in where a writer has come to. Called by the holder of the baton.
  mutating func follow(_ writer: LogWriter) {
    let last = segments.count - 1
    if let journal = writer.journal {
      if last < 0 || segments[last].journal.generation != journal.generation {
        if last >= 0, let predecessor = journal.header.predecessor, let end = predecessor.end,
          predecessor.generation == segments[last].journal.generation
        {
          segments[last].end = end
          segments[last].lsn = journal.header.baseLSN
        }
        segments.append(Segment(journal: journal, end: writer.end, lsn: writer.lsn, carriedLSN: writer.carriedLSN))
      } else {
        segments[last].end = writer.end
        segments[last].lsn = writer.lsn
      }
    } else if let end = writer.pending?.predecessor?.end, last >= 0,
      writer.pending?.predecessor?.generation == segments[last].journal.generation,
      writer.pending?.carried.isEmpty == true
    {
      segments[last].end = end
      segments[last].lsn = writer.lsn
    }
  }

  var bytes: UInt64 { segments.reduce(0) { $0 + $1.end } }
}
