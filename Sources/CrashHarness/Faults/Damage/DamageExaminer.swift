import LogStore

/// Holds what openings of a damaged page show against what was written: exact data, or a report that says what is gone.
struct DamageExaminer {
  let page: CorpusPage
  let reach: Reach

  /// What became of an opening, where nothing is wrong with it.
  enum Verdict: Int, CaseIterable {
    /// The state is whole.
    case exact
    /// The state is whole or not, and the report names the damage.
    case reported
    /// A typed error says that there is damage.
    case refused
    /// Some records cannot be read, and say so; all others are exact.
    case unreadable
    /// The known limit: the end of the newest journal is wrong where nothing durable says that it had been written, so
    /// that it reads as a torn tail, and is reported as one.
    case torn
    /// The known limit: the newest journal is cut right behind an earlier close mark, and is then, byte for byte, what it
    /// was when it was closed there.
    case earlierClose
    /// The known limit: the newest journal is gone, and nothing names it. The page is what it was before it was begun.
    case neverBegun
    /// What another file would have stood in for is gone, and another file is hit too.
    case compound
  }

  enum Answer {
    case fine(Verdict)
    case wrong(String)
  }

  init(_ page: CorpusPage, _ damage: Damage) {
    self.page = page
    reach = Reach(damage, page)
  }

  func judge(_ sight: Sight, _ policy: RecoveryPolicy) -> Answer {
    switch sight {
    case .broken(let what): .wrong(what)
    case .refused(let error): judge(error, policy)
    case .unreadable(let unreadable): judge(unreadable, policy)
    case .shown(let shown): judge(shown, policy)
    }
  }

  private func judge(_ error: LogStoreError, _ policy: RecoveryPolicy) -> Answer {
    let fits: Set<LogStoreError.Code> = [.damaged, .noBase, .foreignFile]
    if error.code == .notFound, page.names == reach.removed.map({ [$0] }) { return .fine(.refused) }
    guard fits.contains(error.code) else { return .wrong("opening says \(error)") }
    // An application's state is read whole at opening, and of the table what the journal's operations need of it.
    if reach.hitsBaseBody, error.code == .damaged, error.path?.hasSuffix(page.anatomy.base ?? "") == true {
      return reach.isBaseReplaceable && !reach.hitsOpening
        ? .wrong("opening refuses what a kept generation has") : .fine(.refused)
    }
    guard reach.hitsOpening else { return .wrong("opening refuses a page whose log is whole: \(error)") }
    if policy != .strict, !reach.hitsHeader, !reach.hitsBaseEnds {
      return .wrong("opening refuses where it should go around: \(error)")
    }
    if policy != .strict, !reach.hitsHeader, reach.isBaseReplaceable {
      return .wrong("opening refuses what a kept generation has: \(error)")
    }
    if policy == .salvage, reach.hitsToldHeader { return .wrong("opening refuses for a header that others tell of") }
    return .fine(.refused)
  }

  private func judge(_ unreadable: Sight.Unreadable, _ policy: RecoveryPolicy) -> Answer {
    guard unreadable.error.code == .damaged else { return .wrong("reading says \(unreadable.error)") }
    guard reach.hitsBaseBody || reach.hitsBaseEnds else {
      return .wrong("what nothing has hit cannot be read: \(unreadable.error)")
    }
    if reach.isBaseReplaceable { return .wrong("what a kept generation has cannot be read: \(unreadable.error)") }
    if let odd = unreadable.oddities.first { return .wrong("looking up a key says \(odd)") }
    for (key, value) in unreadable.values {
      if reach.batches.isEmpty {
        guard value == page.truth[key] else { return .wrong("beside unreadable records, \(name(key)) is wrong") }
      } else if let value, !page.everWritten(value, for: key) {
        return .wrong("beside unreadable records, \(name(key)) has a value that was never written")
      }
    }
    if reach.hitsDurableLog || reach.hitsHeader, !hasToldDamage(unreadable.report) {
      return .wrong("the journal's damage is not reported")
    }
    return .fine(.unreadable)
  }

  private func judge(_ shown: Sight.Shown, _ policy: RecoveryPolicy) -> Answer {
    let told = hasToldDamage(shown.report)
    let torn = shown.report.findings.contains { $0.kind == .tornTail || $0.kind == .notClosed }
    if !told, reach.needsNothingGone(.shown(shown), page) {
      return .fine(reach.unnamed == nil ? .exact : .neverBegun)
    }
    guard reach.hitsOpening else {
      guard shown.table == page.truth, shown.lsn == page.lsn else {
        return .wrong("nothing that the log needs is hit, and the state is another one")
      }
      return told ? .wrong("damage is reported where none is: \(shown.report.findings)") : .fine(.exact)
    }
    if reach.hitsDurableLog || reach.hitsHeader || reach.hitsBaseEnds {
      guard told else { return .wrong("damage is not reported; findings: \(shown.report.findings)") }
      if policy == .strict { return .wrong("strict opens a damaged page") }
      if policy == .salvage, reach.hitsToldHeader, reach.unread.isEmpty, shown.table != page.truth {
        return .wrong("a header that others tell of costs records; findings: \(shown.report.findings)")
      }
    } else {
      if !torn, !told, reach.isEarlierClose, let stop = reach.tornStop, shown.table == page.states[stop] {
        return .fine(.earlierClose)
      }
      guard torn || told else { return .wrong("a wrong tail is not reported") }
    }
    if reach.hitsBaseEnds, page.anatomy.kept == nil, !shown.report.isIncomplete {
      return .wrong("the base is gone, nothing was kept, and a whole page is shown")
    }
    if reach.isCompound {
      return CompoundDamage(page, reach).objection(to: shown, policy).map(Answer.wrong) ?? .fine(.compound)
    }
    guard let explanation = explain(shown, policy) else {
      return .wrong(
        "the state is none that the damage explains: LSN \(shown.lsn) of \(page.lsn), "
          + "\(shown.table.records.count) records; findings: \(shown.report.findings)")
    }
    return .fine(explanation)
  }

  /// Whether the report names damage that is not an old story.
  private func hasToldDamage(_ report: RecoveryReport) -> Bool {
    report.findings.contains { $0.severity == .damage && $0.kind != .recordedLoss }
  }

  /// By what the state shown comes from the history; nil if by nothing that is allowed.
  private func explain(_ shown: Sight.Shown, _ policy: RecoveryPolicy) -> Verdict? {
    let isWhole = shown.table == page.truth
    if isWhole, reach.batches.isEmpty { return .reported }
    if let unnamed = reach.unnamed, unnamed.contains(where: { shown.table == page.states[$0] }) { return .reported }
    if let stop = reach.tornStop, !reach.hitsDurableLog, !reach.hitsHeader {
      // Not one batch less than what stands in front of the torn tail, nor more.
      return shown.table == page.states[stop] && shown.lsn == page.lsns[stop] ? .torn : nil
    }
    var stops: [Int] = []
    if policy == .pointInTime, let stop = reach.firstStop { stops.append(stop) }
    if let stop = reach.tornStop { stops.append(stop) }
    if shown.report.isIncomplete, let stop = reach.gapStop { stops += stop...page.history.count }
    if policy == .pointInTime {
      return stops.contains { shown.table == page.states[$0] } ? .reported : nil
    }
    // In front of a gap, the state may also come from batches where they stood before they were carried.
    if shown.report.isIncomplete, stops.contains(where: { shown.table == page.states[$0] }) { return .reported }
    for stop in [page.history.count] + stops where replays(to: shown, upTo: stop) { return .reported }
    return nil
  }

  /// Whether the history up to a batch gives what is shown, without those that cannot be read: not one more.
  private func replays(to shown: Sight.Shown, upTo stop: Int) -> Bool {
    var table = OrderedTable()
    for (index, batch) in page.history[..<stop].enumerated() where !reach.unread.contains(index) { table.apply(batch) }
    // What was dropped has had its LSNs: behind it they go on, and are not given out again.
    return table == shown.table && (stop < page.history.count || shown.lsn >= page.lsn)
  }

  private func name(_ key: [UInt8]) -> String { String(decoding: key, as: UTF8.self) }
}

extension OrderedTable {
  subscript(key: [UInt8]) -> [UInt8]? { records.first { $0.key == key }?.value }
}

extension CorpusPage {
  /// Whether a value was once put for a key.
  func everWritten(_ value: [UInt8], for key: [UInt8]) -> Bool {
    history.contains {
      $0.contains {
        switch $0 {
        case .put(key, value): true
        case .putBefore(key, _, value): true
        default: false
        }
      }
    }
  }

  /// Every key that any batch names.
  var keys: [[UInt8]] {
    var found: Set<[UInt8]> = []
    for operation in history.joined() {
      switch operation {
      case .put(let key, _), .putBefore(let key, _, _), .remove(let key), .move(let key, _), .moveToEnd(let key):
        found.insert(key)
      case .clear: break
      }
    }
    return found.sorted { $0.lexicographicallyPrecedes($1) }
  }
}
