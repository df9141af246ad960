import LogStore
import LogStoreTesting

/// What comes after the opening of a damaged page: verifying, which every damage has, salvaging, going on, opening again,
/// compacting.
struct DamageAftermath {
  let page: CorpusPage
  let damage: Damage
  let reach: Reach

  private func disk() -> SimulatedStorage {
    let disk = page.disk.crash(.kill)
    damage.apply(to: disk, page)
    return disk
  }

  /// - Parameter sight: what opening to read shows under the policy. Salvaging knows only one.
  /// - Returns: what is wrong; nil if nothing is.
  func examine(_ sight: Sight, _ policy: RecoveryPolicy) -> String? {
    do {
      if policy == .salvage, let problem = try salvage(sight) { return problem }
      return try goOn(sight, policy)
    } catch {
      return "the aftermath fails: \(error)"
    }
  }

  // MARK: Verifying

  /// - Parameters:
  ///   - sight: what opening to read shows under the salvage policy.
  ///   - storage: the damaged page.
  /// - Returns: what is wrong; nil if nothing is.
  func verify(_ sight: Sight, on storage: any Storage) -> String? {
    let inspector = PageInspector(path: pagePath, storage: storage)
    let report: VerificationReport
    do throws(LogStoreError) {
      report = try inspector.verify()
    } catch {
      guard case .refused(let refusal) = sight, refusal.code == error.code else {
        return "verify says \(error), and opening shows \(sight)"
      }
      return nil
    }
    switch sight {
    case .refused(let error):
      // Verifying reads a journal without applying it to the records.
      if reach.hitsBaseBody, error.code == .damaged, report.severity == .damage { return nil }
      return "opening says \(error), and verify finds \(report.findings)"
    case .broken(let what): return what
    case .shown(let shown):
      if shown.report != report.recovery { return "verify reports \(report.recovery), opening \(shown.report)" }
    case .unreadable(let unreadable):
      if unreadable.report != report.recovery {
        return "verify reports \(report.recovery), opening \(unreadable.report)"
      }
    }
    let found = report.findings.filter { $0.kind != .recordedLoss }.map(\.severity).max()
    let snapshots = page.names.filter { $0.hasSuffix(".snapshot") }
    // What is not there is damage only where something needs it.
    let isSnapshotHit = snapshots.contains {
      $0 != damage.removed && !damage.changes(in: $0, of: page.files[$0] ?? []).isEmpty
    }
    if reach.needsNothingGone(sight, page) { return nil }
    if isSnapshotHit || reach.hitsDurableLog || reach.hitsHeader, found != .damage {
      return "verify does not find the damage: \(report.findings)"
    }
    // Cut right behind an earlier close mark it is, byte for byte, what it was when it was closed there.
    if reach.hitsTail, !reach.isEarlierClose, found ?? .note < .benign {
      return "verify does not find the torn tail: \(report.findings)"
    }
    return nil
  }

  // MARK: Salvaging

  private func salvage(_ sight: Sight) throws -> String? {
    let storage = disk()
    let before = storage.files(in: pagePath)
    let copy = "/copy"
    let report: SalvageReport
    do throws(LogStoreError) {
      report = try PageInspector(path: pagePath, storage: storage).salvage(to: copy, options: quietOptions(storage))
    } catch {
      guard case .refused(let refusal) = sight, refusal.code == error.code else {
        return "salvage says \(error), and opening shows \(sight)"
      }
      return nil
    }
    if storage.files(in: pagePath) != before { return "salvage changes the page that it copies" }
    let shown = try DamageAftermath.table(at: copy, storage, page.isApplication)
    switch sight {
    case .shown(let other):
      // Opening stops in front of a gap; salvaging copies what stands behind it too.
      if other.report.isIncomplete { return makesUp(shown, report) }
      if shown != other.table { return "salvage gives another state than opening; findings: \(report.findings)" }
    case .unreadable(let other):
      for (key, value) in other.values where shown[key] != value {
        return "salvage gives \(String(decoding: key, as: UTF8.self)) another value than opening"
      }
    case .refused, .broken: return makesUp(shown, report)
    }
    return nil
  }

  private func makesUp(_ shown: OrderedTable, _ report: SalvageReport) -> String? {
    for record in shown.records where !page.everWritten(record.value, for: record.key) {
      return "salvage makes up \(String(decoding: record.key, as: UTF8.self))"
    }
    return report.findings.contains { $0.severity == .damage } ? nil : "salvage around damage reports none"
  }

  private static func table(at path: String, _ storage: any Storage, _ isApplication: Bool) throws -> OrderedTable {
    let options = quietOptions(storage)
    guard isApplication else {
      return try Page(path: path, mode: .readOnly, options: options).table()
    }
    return try StatePage<Chronicle>(path: path, mode: .readOnly, options: options).state().table
  }

  // MARK: Going on

  private static let more: [TableOperation] = [.put(Array("new".utf8), Array("value".utf8))]

  private func goOn(_ sight: Sight, _ policy: RecoveryPolicy) throws -> String? {
    let storage = disk()
    let before = storage.files(in: pagePath)
    let opened: OpenedPage
    do {
      opened = try OpenedPage(storage, isApplication: page.isApplication, policy: policy)
    } catch {
      guard case .refused(let refusal) = sight, (error as? LogStoreError)?.code == refusal.code else {
        return "opening to write says \(error), and to read \(sight)"
      }
      return storage.files(in: pagePath) == before ? nil : "an opening that is refused changes files"
    }
    let keys = page.keys
    guard DamageAftermath.agree(try opened.sight(keys), sight, more: []) else {
      return "opening to write shows another state than opening to read"
    }
    if case .unreadable(let unreadable) = sight, unreadable.values.isEmpty, !keys.isEmpty { return nil }
    try opened.write(DamageAftermath.more)
    let cut = storage.crash(.powerCut(.dropUnsynced))
    let again: OpenedPage
    do {
      again = try OpenedPage(cut, isApplication: page.isApplication, policy: policy)
    } catch {
      // What was written may need records that cannot be read.
      if case .unreadable = sight, (error as? LogStoreError)?.code == .damaged { return nil }
      throw error
    }
    guard DamageAftermath.agree(try again.sight(keys), sight, more: DamageAftermath.more) else {
      return "after going on and a power cut another state is shown"
    }
    if DamageAftermath.report(sight)?.hasDamage == true, !again.report.hasDamage, isAnythingLost(sight) {
      return "the second opening no longer says what is lost"
    }
    if let problem = understatement(sight, again.report) { return problem }
    if let litter = cut.names(in: pagePath).first(where: { $0.hasSuffix(".tmp") }) { return "left over: \(litter)" }
    if let problem = try compact(again, sight, keys) { return problem }
    try again.close()
    // What the policy has cut off is settled: whoever opens the page under another does not get it back.
    let last = try OpenedPage(cut, isApplication: page.isApplication, policy: .salvage)
    guard DamageAftermath.agree(try last.sight(keys), sight, more: DamageAftermath.more) else {
      return "after compacting and closing another state is shown"
    }
    return nil
  }

  /// Compacting mends, or says that it cannot; the state stays what it is.
  private func compact(_ opened: OpenedPage, _ sight: Sight, _ keys: [[UInt8]]) throws -> String? {
    do {
      try opened.compact()
    } catch {
      guard (error as? LogStoreError)?.code == .damaged, reach.hitsBaseBody || reach.hitsBaseEnds else {
        return "compacting says \(error)"
      }
    }
    return DamageAftermath.agree(try opened.sight(keys), sight, more: DamageAftermath.more)
      ? nil : "compacting changes the state"
  }

  /// Where a gap has taken the end of the log, what is on record of it comes to no less than is gone.
  private func understatement(_ sight: Sight, _ later: RecoveryReport) -> String? {
    guard case .shown(let shown) = sight, shown.report.isIncomplete, shown.lsn < page.lsn else { return nil }
    let before = Set(shown.report.findings.filter { $0.kind == .recordedLoss })
    let recorded = later.findings.filter { $0.kind == .recordedLoss && !before.contains($0) }
    let most = recorded.reduce(0 as UInt64?) { sum, loss in sum.flatMap { sum in loss.lostOperations.map { sum + $0 } }
    }
    guard let most, most < page.lsn - shown.lsn else { return nil }
    return "\(page.lsn - shown.lsn) operations are gone, and at most \(most) are on record: \(recorded)"
  }

  private func isAnythingLost(_ sight: Sight) -> Bool {
    if case .shown(let shown) = sight { return shown.table != page.truth }
    return false
  }

  private static func report(_ sight: Sight) -> RecoveryReport? {
    switch sight {
    case .shown(let shown): shown.report
    case .unreadable(let unreadable): unreadable.report
    case .refused, .broken: nil
    }
  }

  /// Whether two openings show the same, but for what was written in between.
  private static func agree(_ later: Sight, _ sight: Sight, more: [TableOperation]) -> Bool {
    switch (later, sight) {
    case (.shown(let later), .shown(let earlier)):
      var table = earlier.table
      table.apply(more)
      return later.table == table
    case (.unreadable(let later), .unreadable(let earlier)):
      return later.values == earlier.values
    default: return false
    }
  }
}
