/// What a page's journals are replayed into.
protocol ReplayTarget: AnyObject {
  /// Forgets everything and starts from a snapshot, or from nothing.
  func rebase(onto base: SnapshotBase?) throws(LogStoreError)
  /// Replays a journal behind what has been replayed so far. `file` stands for the journal in the locations of records.
  func replay(_ walk: inout JournalWalk, file: Int) throws(LogStoreError)
}

/// A page's state in memory.
protocol PageModel: ReplayTarget, SendableMetatype {
  /// Whether the state is an application's own.
  static var isApplication: Bool { get }
  /// What kind of state it is, as the files' headers say: 0 is the record table.
  var state: UInt32 { get }
}

/// Replays a page's chain into a model, and judges what it finds (SPEC.md, section 7).
struct Recovery {
  let chain: Chain
  let policy: RecoveryPolicy
  var until = Moment.now
  /// What ends the last journal, where the chain is only a part of the page's.
  var successor: JournalFile?
  var progress: ProgressHandler?

  /// What came of it.
  struct Result {
    /// The journals that the state took in; the last of them is where the log goes on.
    var journals: [JournalFile] = []
    /// What became of each.
    var outcomes: [JournalOutcome] = []
    /// Losses that earlier recoveries recorded.
    var losses: [LossRecord] = []
    /// Losses that this one has to record.
    var newLosses: [LossRecord] = []
    /// Bytes that no state takes in: damage, torn tails, what is cut off.
    var quarantine: [QuarantineRange] = []
    var report = RecoveryReport()
    var lsn: UInt64 = 0
    /// Whether the newest journal may be appended to.
    var mayAppend = false
  }

  /// Replays into `model`, which starts from `base`: the chain's, with a way around its damage.
  func run(_ model: any ReplayTarget, from base: SnapshotBase?) throws(LogStoreError) -> Result {
    var result = Result()
    try model.rebase(onto: base)
    result.lsn = chain.base?.header.lsn ?? 0
    result.report.findings = chain.findings
    result.report.isIncomplete = chain.isIncomplete
    result.report.snapshotGeneration = chain.base?.header.generation
    result.report.snapshotRecords = UInt64(chain.base?.count ?? 0)
    let total = chain.journals.reduce(0) { $0 + $1.status.size }
    let goesOn = progress.map { progress in
      { progress(Progress(.replaying, completedBytes: 0, totalBytes: total)) }
    }
    result.losses = try RecordedLosses.all(
      handedDown: chain.base?.losses() ?? [], chain.journals, successor, goesOn: goesOn)
    let skips = LossesByJournal(result.losses)
    if policy == .strict, let first = chain.findings.first(where: { $0.severity == .damage }) {
      throw LogStoreError(.damaged, "\(first.file): \(first.detail); open with the salvage policy", path: first.file)
    }
    for (index, journal) in chain.journals.enumerated() {
      let successor = index + 1 < chain.journals.count ? chain.journals[index + 1] : successor
      let outcome = try replay(journal, index, successor, skips.naming(journal), model)
      record(outcome, journal, successor, &result)
      if outcome.missing != nil || outcome.stoppedAtDamage {
        if policy == .strict, let missing = outcome.missing {
          throw LogStoreError(
            .damaged, "the end of the journal is missing; look for a complete copy, or open with the salvage policy",
            path: journal.path, offset: missing.lowerBound, lsn: result.lsn)
        }
        cutOff(from: index + 1, &result)
        break
      }
      if outcome.stoppedBySink, until != .now { break }
    }
    for journal in chain.cutOff { lose(journal, from: 0, &result) }
    finish(&result)
    return result
  }

  /// Puts on record that a journal's operations from a place on are no longer part of the page: whoever goes on behind
  /// them cuts them off for good, and later openings do not come across them.
  private func lose(
    _ journal: CutOffJournal, from start: UInt64, upTo end: UInt64? = nil, _ result: inout Result
  ) {
    let start = max(start, UInt64(Limits.headerBytes))
    let end = max(end ?? journal.end, start + 1)
    let most =
      journal.lsn?.subtractingCapped(result.lsn) ?? (end == .max ? 0 : Limits.operations(begunIn: end - start))
    result.newLosses.append(
      LossRecord(
        generation: journal.generation, salt: journal.salt, start: start, end: end,
        lsn: min(result.lsn + 1, Limits.lsn), count: min(most, Limits.lsn)))
  }

  private func replay(
    _ journal: JournalFile, _ index: Int, _ successor: JournalFile?, _ skips: [LossRecord], _ model: any ReplayTarget
  ) throws(LogStoreError) -> JournalOutcome {
    let size = journal.status.size
    let end = successor?.header.predecessor?.end
    let expected = journal.expectedLength(before: successor?.header)
    var walk = JournalWalk(journal.reader(limit: min(size, end ?? size)))
    walk.isSealed = end != nil
    walk.isCut = size < expected
    walk.successorLSN = successor?.header.baseLSN
    walk.skips = skips
    walk.policy = policy
    walk.until = until
    if let progress {
      var done: UInt64 = chain.journals[..<index].reduce(0) { $0 + $1.status.size }
      let total = chain.journals.reduce(0) { $0 + $1.status.size }
      walk.progress = { bytes in
        done += bytes
        return progress(Progress(.replaying, completedBytes: done, totalBytes: total))
      }
    }
    try model.replay(&walk, file: index)
    var outcome = walk.outcome
    if outcome.stoppedAtDamage { return outcome }
    if size < expected { outcome.missing = size..<expected }
    // The end is unknown, and the log does not reach the successor's beginning.
    if let successor, end == nil, outcome.lsn < successor.header.baseLSN, until == .now {
      outcome.missing = size..<UInt64.max
    }
    return outcome
  }

  private func record(
    _ outcome: JournalOutcome, _ journal: JournalFile, _ successor: JournalFile?, _ result: inout Result
  ) {
    result.journals.append(journal)
    result.outcomes.append(outcome)
    // A successor says where the log went on; a state that stops earlier has its own.
    result.lsn = outcome.lsn
    result.report.journalGeneration = journal.generation
    result.report.journals += 1
    result.report.batches += outcome.batches
    result.report.operations += outcome.operations
    result.report.bytes += outcome.good
    for dropped in outcome.dropped {
      let range = dropped.range
      result.newLosses.append(
        LossRecord(
          generation: journal.generation, salt: journal.header.salt, start: range.lowerBound, end: range.upperBound,
          lsn: dropped.lsn + 1, count: dropped.lost))
      result.quarantine.append(QuarantineRange(generation: journal.generation, range: range))
      result.report.findings.append(Finding(damage: dropped, in: journal.name))
    }
    // Under `pointInTime` the state takes in nothing of what stands behind the range that stopped the replay, either.
    let limit = min(journal.status.size, successor?.header.predecessor?.end ?? journal.status.size)
    if outcome.stoppedAtDamage, let stop = outcome.dropped.last?.range.upperBound {
      let isCut = journal.status.size < journal.expectedLength(before: successor?.header)
      let whole = CutOffJournal(journal, before: successor?.header)
      if stop < limit || isCut { lose(whole, from: stop, upTo: isCut ? whole.end : limit, &result) }
      if stop < limit {
        result.quarantine.append(QuarantineRange(generation: journal.generation, range: stop..<limit))
      }
    }
    if let missing = outcome.missing {
      result.report.isIncomplete = true
      // A newest journal had this much when it began; how much it came to, nobody knows.
      let end = successor == nil ? .max : missing.upperBound
      lose(CutOffJournal(journal), from: missing.lowerBound, upTo: end, &result)
      result.report.findings.append(
        Finding(
          .missing, .damage, file: journal.name, range: missing, lsns: nil,
          detail: "the file ends at byte \(missing.lowerBound), and had been durable "
            + (missing.upperBound == .max ? "beyond" : "up to \(missing.upperBound)"),
          remedy: "look for a complete copy of PAGE; otherwise go on with what there is"))
    }
    if let tail = outcome.tornTail {
      let bytes = tail.count == 1 ? "1 byte that is" : "\(tail.count) bytes that are"
      result.quarantine.append(QuarantineRange(generation: journal.generation, range: tail))
      result.report.findings.append(
        Finding(
          .tornTail, .benign, file: journal.name, range: tail,
          detail: "the journal ends in \(bytes) no complete batch, as after a crash; "
            + "a last group that was synced but not yet marked cannot be told from it"))
    }
    if outcome.clockRanBack {
      result.report.findings.append(
        Finding(
          .clock, .note, file: journal.name, detail: "the clock ran backwards between marks: moments are uncertain"))
    }
  }

  private func cutOff(from first: Int, _ result: inout Result) {
    for (index, journal) in chain.journals.enumerated().dropFirst(first) {
      let successor = index + 1 < chain.journals.count ? chain.journals[index + 1] : successor
      result.report.isIncomplete = true
      lose(CutOffJournal(journal, before: successor?.header), from: 0, &result)
      result.report.findings.append(
        Finding(
          .cutOff, .damage, file: journal.name,
          detail: "what stands before this file is missing or damaged, so that it is not applied",
          remedy: "look for a complete copy of PAGE; otherwise go on with what there is"))
    }
  }

  private func finish(_ result: inout Result) {
    for loss in result.losses {
      result.report.findings.append(Finding(recorded: loss))
    }
    let newest = result.journals.last
    let last = result.outcomes.last
    let isWhole = result.journals.count == chain.journals.count && until == .now
    if let newest, let last, isWhole, last.tornTail == nil, last.missing == nil, !last.stoppedAtDamage, !last.isClosed {
      result.report.findings.append(
        Finding(
          .notClosed, .benign, file: newest.name, range: nil,
          detail: "the page was not closed: its writer crashed, was killed, or is still at work"))
    }
    if let newest, last?.isClosed == true, !newest.isOriginal {
      result.report.findings.append(
        Finding(.copied, .note, file: newest.name, detail: "the page is a copy; its first write starts a new journal"))
    }
    result.mayAppend =
      isWhole && last?.mayGoOn == true && newest?.isOriginal == true && newest?.header.isRebuilt == false
      && !chain.findings.contains { $0.severity > .note } && !result.report.isIncomplete
      && result.outcomes.allSatisfy(\.isRegular)
    result.report.position.lsn = result.lsn
    if let base = chain.base { result.report.position.salt = base.header.journalSalt }
    if let newest { result.report.position.salt = newest.header.salt }
  }
}

extension Finding {
  init(damage dropped: DroppedRange, in file: String) {
    self.init(
      .damagedFrame, .damage, file: file, range: dropped.range,
      lsns: dropped.lost > 0 ? (dropped.lsn + 1)...(dropped.lsn + dropped.lost) : nil,
      detail: "the frame at byte \(dropped.fault) had been durable and does not verify; its batch is dropped",
      lostOperations: dropped.lost, keys: dropped.keys, remedy: "logctl compact PAGE")
  }

  init(recorded loss: LossRecord) {
    self.init(
      .recordedLoss, .damage, file: PageFile.journal(loss.generation).name, range: loss.start..<loss.end,
      lsns: loss.count > 0 ? loss.lsn...(loss.lsn + loss.count - 1) : nil,
      detail: "an earlier recovery dropped these bytes for good",
      // Where nobody knows how many bytes there were, nor does anybody how many operations.
      lostOperations: loss.end == .max ? nil : loss.count,
      remedy: "logctl forget PAGE")
  }
}
