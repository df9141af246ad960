import LogStore

/// What must be shown where what one file would have stood in for is gone, and another file is hit too.
///
/// Which files the state then comes from cannot be told without opening them as the engine does. But a batch that can be
/// read decides what each of its keys holds, whatever is lost in front of it; so a key is as it was, unless the last batch
/// that says something of it is one that may be gone.
struct CompoundDamage {
  private let page: CorpusPage
  private let reach: Reach
  /// Batches that may be gone.
  private let doubtful: Set<Int>

  init(_ page: CorpusPage, _ reach: Reach) {
    self.page = page
    self.reach = reach
    var doubtful = reach.unread.union(reach.passedOver)
    if reach.hitsBaseEnds || reach.hitsBaseBody, !reach.isBaseReplaceable {
      // Those that stand in the snapshot, or in what is in its stead.
      doubtful.formUnion(Set(page.history.indices).subtracting(page.anatomy.batches.map(\.index)))
    }
    self.doubtful = doubtful
  }

  /// What is wrong; nil if nothing is.
  func objection(to shown: Sight.Shown, _ policy: RecoveryPolicy) -> String? {
    for record in shown.table.records where !page.everWritten(record.value, for: record.key) {
      return "\(name(record.key)) has a value that was never written"
    }
    var values: [[UInt8]: [UInt8]] = [:]
    for record in shown.table.records { values[record.key] = record.value }
    let wrong = stops(shown.report, policy).map { wrongKey(values, upTo: $0) }
    guard let first = wrong.first, !wrong.contains(nil) else { return nil }
    return "\(name(first ?? [])) is not as a batch left it that nothing has hit; findings: \(shown.report.findings)"
  }

  /// In front of which batches the history may end.
  private func stops(_ report: RecoveryReport, _ policy: RecoveryPolicy) -> [Int] {
    let end = page.history.count
    if report.isIncomplete || policy == .pointInTime && reach.hitsBaseEnds {
      return Array((reach.hitsBaseEnds ? 0 : min(reach.gapStop ?? end, reach.firstStop ?? end))...end)
    }
    return [end] + [reach.tornStop, policy == .pointInTime ? reach.firstStop : nil].compactMap { $0 }
  }

  /// A key that is not what the history up to a batch makes of it; nil if there is none.
  private func wrongKey(_ values: [[UInt8]: [UInt8]], upTo stop: Int) -> [UInt8]? {
    page.keys.first { key in
      guard let last = (0..<stop).last(where: { decides(page.history[$0], key) }) else { return values[key] != nil }
      return !doubtful.contains(last) && values[key] != page.states[last + 1][key]
    }
  }

  /// Whether a batch says what a key holds, or that there is none.
  private func decides(_ batch: [TableOperation], _ key: [UInt8]) -> Bool {
    batch.contains {
      switch $0 {
      case .put(key, _), .putBefore(key, _, _), .remove(key), .clear: true
      default: false
      }
    }
  }

  private func name(_ key: [UInt8]) -> String { String(decoding: key, as: UTF8.self) }
}
