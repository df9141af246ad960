import LogStore

/// What a damage has hit, of what the page's state needs.
struct Reach {
  /// Batches of the history that no longer stand there as they were written.
  private(set) var batches: Set<Int> = []
  /// Batches that replay does not come to: those that are hit, and those behind them that stand alone, where the length that
  /// leads to them is gone. A search goes on only where two frames verify, or a mark: one alone may do so by chance.
  private(set) var unread: Set<Int> = []
  /// The batch in front of which replay may have to stop: the first behind the first changed byte of a journal.
  private(set) var firstStop: Int?
  /// The batches of which the newest journal's hit ones are the first, where what is left cannot be told from a crash.
  private(set) var tornStop: Int?
  /// From this batch on the log may be cut off, because a header, or the end of a journal, is gone.
  private(set) var gapStop: Int?
  /// Changed bytes of journals that opening reads: headers and frames, those behind the end of the durable apart.
  private(set) var hitsDurableLog = false
  private(set) var hitsTail = false
  var hitsHeader: Bool { headersHit > 0 }
  private var headersHit = 0
  /// Whether just one header is hit, and its snapshot, its successor or a mark says what it was.
  private(set) var hitsToldHeader = false
  /// Header, losses or footer of the snapshot that the state starts from.
  private(set) var hitsBaseEnds = false
  /// Its records and tables, which opening does not read.
  private(set) var hitsBaseBody = false
  /// Whether the chain that the page has without that snapshot is whole.
  private(set) var isBaseReplaceable = false
  /// Batches that may be lost although they can be read: where two headers are hit, one of them may be passed over.
  private(set) var passedOver: Set<Int> = []

  /// How many files are hit.
  private(set) var filesHit = 0
  /// Whether the newest journal is cut right behind an earlier close mark: it is then what it was when it was closed.
  private(set) var isEarlierClose = false

  /// The file that is gone, name and all.
  private(set) var removed: String?
  /// Batches that the page has without it where that cannot be told from one whose last journal was never begun: there is no
  /// snapshot of its number, and nothing names it.
  private(set) var unnamed: ClosedRange<Int>?

  /// Whether something is gone that another file stands in for, and another file is hit too. Then this is promised: the
  /// damage is reported, no value is made up, and what was written last by a batch that can be read is there.
  var isCompound: Bool { filesHit > 1 && (hitsHeader || hitsBaseEnds) }

  /// Whether anything that opening reads has changed.
  var hitsOpening: Bool { hitsDurableLog || hitsTail || hitsHeader || hitsBaseEnds }
  var hitsAnything: Bool { hitsOpening || hitsBaseBody }

  init(_ damage: Damage, _ page: CorpusPage) {
    let anatomy = page.anatomy
    for (place, journal) in anatomy.journals.enumerated() {
      guard let whole = page.files[journal.name] else { continue }
      let changes = damage.changes(in: journal.name, of: whole).filter { change in
        change.lowerBound < journal.end
          && !anatomy.dropped.contains {
            $0.file == journal.name && $0.range.lowerBound <= change.lowerBound
              && change.upperBound <= $0.range.upperBound
          }
      }
      guard !changes.isEmpty else { continue }
      note(changes, place, damage, page)
    }
    if let newest = anatomy.newest, let cut = damage.cut, cut.file == newest.name {
      isEarlierClose = newest.marks.contains { $0.isClosed && $0.range.upperBound == cut.length }
    }
    removed = damage.removed
    if let newest = anatomy.newest, newest.name == removed,
      page.files[String(newest.name.dropLast(7)) + "snapshot"] == nil
    {
      // What it had carried still stands where it stood before.
      unnamed = newest.firstIndex...page.history.count
    }
    filesHit = page.names.count { !damage.changes(in: $0, of: page.files[$0] ?? []).isEmpty }
    if headersHit > 1 {
      hitsToldHeader = false
      for batch in anatomy.batches where losesHeader(batch.file, damage, page) { passedOver.insert(batch.index) }
    }
    if let kept = anatomy.kept {
      isBaseReplaceable =
        !hitsHeader && kept.allSatisfy { damage.changes(in: $0, of: page.files[$0] ?? []).isEmpty }
    }
    guard let base = anatomy.base, let whole = page.files[base] else { return }
    for change in damage.changes(in: base, of: whole) {
      if anatomy.baseEnds.contains(where: { $0.overlaps(change) }) { hitsBaseEnds = true }
      if anatomy.baseEnds.count < 2
        || change.overlaps(anatomy.baseEnds[0].upperBound..<anatomy.baseEnds[1].lowerBound)
      {
        hitsBaseBody = true
      }
    }
    // A snapshot cut short has no footer where a footer is looked for.
    if damage.cut?.file == base { hitsBaseEnds = true }
    if hitsBaseEnds { hitsToldHeader = false }
  }

  /// Whether a file is gone without which the page is what it would be if it had never had it.
  func needsNothingGone(_ sight: Sight, _ page: CorpusPage) -> Bool {
    guard let removed, case .shown(let shown) = sight else { return false }
    if let unnamed { return unnamed.contains { shown.table == page.states[$0] } }
    return (removed == page.anatomy.base || !hitsOpening) && shown.table == page.truth && shown.lsn == page.lsn
  }

  private static let headerBytes = 128

  private func losesHeader(_ file: String, _ damage: Damage, _ page: CorpusPage) -> Bool {
    damage.changes(in: file, of: page.files[file] ?? []).first.map { $0.lowerBound < Reach.headerBytes } ?? false
  }

  private mutating func note(_ changes: [Range<Int>], _ place: Int, _ damage: Damage, _ page: CorpusPage) {
    let journal = page.anatomy.journals[place]
    let isNewest = place == page.anatomy.journals.count - 1
    let headerBytes = Reach.headerBytes
    let isHeaderHit = changes[0].lowerBound < headerBytes
    let size = damage.cut?.file == journal.name ? damage.cut?.length ?? 0 : page.files[journal.name]?.count ?? 0
    if isHeaderHit {
      headersHit += 1
      stop(&gapStop, journal.firstIndex)
      hitsToldHeader =
        damage.cut == nil
        && (page.anatomy.base == journal.name.dropLast(7) + "snapshot"
          // The LSN that it begins with comes from counting all frames behind it.
          || changes.allSatisfy { $0.upperBound <= headerBytes } && (!isNewest || !journal.marks.isEmpty))
    }
    let durable = isNewest ? Reach.durableEnd(journal, changes, isHeaderHit, size) : journal.end
    let isShort = size < (isNewest ? (isHeaderHit ? 0 : journal.initialLength) : journal.end)
    for batch in page.anatomy.batches
    where batch.file == journal.name && changes.contains(where: { $0.overlaps(batch.range) }) {
      batches.insert(batch.index)
    }
    let walk = FrameWalk(
      journal.frames, changes, damage.applied(to: page.files[journal.name] ?? [], of: journal.name),
      // Where the header is gone that says where this one ends, it is read on.
      limit: !isNewest && losesHeader(page.anatomy.journals[place + 1].name, damage, page) ? .max : journal.end,
      tornFrom: isNewest && !isShort ? durable : nil)
    let skips = page.anatomy.dropped.filter { $0.file == journal.name }.map(\.range)
    let taken = walk.taken(skipping: skips.sorted { $0.lowerBound < $1.lowerBound })
    for batch in page.anatomy.batches where batch.file == journal.name && !taken.contains(batch.range.lowerBound) {
      unread.insert(batch.index)
    }
    // Without its record, a loss is damage again, and stops where it lies.
    if journal.losses.contains(where: { loss in changes.contains { $0.overlaps(loss) } }) {
      for lost in page.losses { stop(&firstStop, lost) }
    }
    for change in changes where change.upperBound > headerBytes {
      let place = max(change.lowerBound, headerBytes)
      let next =
        page.anatomy.batches.first { $0.file == journal.name && $0.range.upperBound > place }?.index
        ?? following(journal, page)
      stop(&firstStop, next)
      if isShort { stop(&gapStop, next) }
      // What a header hit at the same time takes with it is the initial length, which this already leaves out.
      if isNewest, !isShort, place >= durable {
        hitsTail = true
        stop(&tornStop, next)
      } else {
        hitsDurableLog = true
      }
    }
  }

  /// The index of the batch that follows a journal's last.
  private func following(_ journal: PageAnatomy.Journal, _ page: CorpusPage) -> Int {
    page.anatomy.batches.last { $0.file == journal.name }.map { $0.index + 1 } ?? journal.firstIndex
  }

  private func stop(_ place: inout Int?, _ index: Int) { place = min(place ?? index, index) }

  /// Below this everything is known to have been durable, by what still says so.
  private static func durableEnd(
    _ journal: PageAnatomy.Journal, _ changes: [Range<Int>], _ isHeaderHit: Bool, _ size: Int
  ) -> Int {
    let marks = journal.marks.filter { mark in !changes.contains { $0.overlaps(mark.range) } }
    let known = marks.map(\.durable).max() ?? 0
    return min(max(known, isHeaderHit ? 128 : journal.initialLength), size)
  }
}
