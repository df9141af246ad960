/// Reads all of a page and says what is wrong with it.
struct Verification {
  let files: PageFiles
  let progress: ProgressHandler?
  private var findings: [Finding] = []
  /// Whether the snapshot that the state rests on is damaged, and so what is older may have what it lacks.
  private var needsOlder = false
  private var done: UInt64 = 0
  private var total: UInt64 = 0
  private var count = 0
  private var frames: UInt64 = 0
  private var losses: LossesByJournal?

  init(files: PageFiles, progress: ProgressHandler?) {
    self.files = files
    self.progress = progress
  }

  mutating func run() throws(LogStoreError) -> VerificationReport {
    let listing = files.listing
    for name in listing.journals.map({ PageFile.journal($0).name })
      + listing.snapshots.map({ PageFile.snapshot($0).name })
    {
      total += try mapped { () throws(StorageError) in try files.directory.status(of: name)?.size ?? 0 }
      count += 1
    }
    files.goesOn = step().map { step in { step(Progress(.verifying, completedBytes: 0, totalBytes: nil)) } }
    var finder = ChainFinder(files, until: .now)
    guard let chain = try finder.find() else {
      throw LogStoreError.noFiles(files.directory.path)
    }
    for journal in chain.journals {
      journal.file.dropCache()
      journal.file.willReadSequentially()
    }
    var recovery = Recovery(chain: chain, policy: .salvage)
    recovery.progress = step()
    let result = try recovery.run(BlindModel(), from: chain.base.map { SnapshotBase($0) })
    done += result.journals.reduce(0) { $0 + $1.status.size }
    frames += result.outcomes.reduce(0) { $0 + $1.frames }
    findings = result.report.findings
    try verifySnapshots(chain)
    try adviseOnSnapshots(chain)
    try verifyOthers(chain)
    noteImpossible(result.report.position.lsn, chain)
    try noteNames()
    return VerificationReport(recovery: result.report, findings: findings, files: count, bytes: total, frames: frames)
  }

  private func step() -> ProgressHandler? {
    guard let progress else { return nil }
    let (done, total) = (done, total)
    return { made in
      progress(Progress(.verifying, completedBytes: min(done + made.completedBytes, total), totalBytes: total))
    }
  }

  /// Every snapshot, whole: those that verify for opening may be damaged inside.
  private mutating func verifySnapshots(_ chain: Chain) throws(LogStoreError) {
    for generation in files.listing.snapshots {
      do throws(LogStoreError) {
        try verifySnapshot(generation)
      } catch {
        try passOver(PageFile.snapshot(generation).name, error, chain.base?.header.generation == generation)
      }
    }
  }

  /// A compaction mends the snapshot that the state rests on from the generation kept before it; where there is none, it
  /// would fail. One from before that is not needed, and goes with the next compaction that keeps nothing.
  private mutating func adviseOnSnapshots(_ chain: Chain) throws(LogStoreError) {
    guard let base = chain.base else { return }
    let older = Set(files.listing.snapshots.filter { $0 < base.header.generation }.map { PageFile.snapshot($0).name })
    // The key table can be made again from the records.
    let needsAnother = findings.contains {
      $0.kind == .damagedSnapshot && $0.file == base.name && ($0.range?.lowerBound ?? 0) < base.footer.keysOffset
    }
    var canMend = true
    if needsAnother { canMend = try hasGeneration(behind: base) }
    needsOlder = needsAnother
    for index in findings.indices where findings[index].kind == .damagedSnapshot {
      if older.contains(findings[index].file) {
        findings[index] = findings[index].unneeded(!needsOlder)
      } else if findings[index].file == base.name, !canMend {
        findings[index].remedy = "logctl salvage PAGE -o NEW"
      }
    }
  }

  private func hasGeneration(behind base: SnapshotReader) throws(LogStoreError) -> Bool {
    var finder = ChainFinder(files, until: .now, ignoring: base.header.generation)
    do throws(LogStoreError) {
      guard let behind = try finder.findBehind(base.header.generation) else { return false }
      return behind.successor.header.salt == base.header.journalSalt
    } catch {
      // What a compaction could not use either; a file that cannot be read is another matter.
      guard error.code == .newerVersion || error.code == .foreignFile || error.code == .damaged else { throw error }
      return false
    }
  }

  /// What only a newer version can read is no failure where the present state does not need it: opening does not look.
  private mutating func passOver(_ name: String, _ error: LogStoreError, _ isNeeded: Bool) throws(LogStoreError) {
    guard error.code == .newerVersion, !isNeeded else { throw error }
    findings.append(
      Finding(
        .offChain, .note, file: name,
        detail: "a newer version of LogStore wrote this file; the present state does not need it"))
  }

  private mutating func verifySnapshot(_ generation: UInt64) throws(LogStoreError) {
    let name = PageFile.snapshot(generation).name
    switch try files.snapshot(generation, isKept: false) {
    case .usable(let snapshot):
      snapshot.source.file.dropCache()
      var verifier = SnapshotVerifier(snapshot, phase: .verifying, checksKeys: true, progress: step())
      findings += try verifier.run()
      frames += verifier.frames
      done += snapshot.size
    case .damaged(let damage):
      if !findings.contains(where: { $0.file == name }) {
        findings.append(
          Finding(
            .damagedSnapshot, .damage, file: name, range: 0..<damage.size, detail: damage.error.fault,
            remedy: "logctl compact PAGE"))
      }
      done += damage.size
    case .absent: break
    case .notAFile:
      noteStranger(Finding(.stranger, .note, file: name, detail: "a directory or a link has the name of a snapshot"))
    }
  }

  /// The journals that the present state does not need.
  private mutating func verifyOthers(_ chain: Chain) throws(LogStoreError) {
    let needed = Set(chain.journals.map(\.generation))
    for generation in files.listing.journals where !needed.contains(generation) {
      do throws(LogStoreError) {
        try verifyOther(generation, chain)
      } catch {
        try passOver(PageFile.journal(generation).name, error, false)
      }
    }
  }

  private mutating func verifyOther(_ generation: UInt64, _ chain: Chain) throws(LogStoreError) {
    let name = PageFile.journal(generation).name
    switch try files.journal(generation, isKept: false) {
    case .usable(let journal):
      if let mine = chain.id, journal.header.id != mine {
        findings.append(
          Finding(.stranger, .note, file: name, detail: "the file belongs to page \(journal.header.id)"))
      } else {
        try verify(journal, chain)
      }
      done += journal.status.size
    case .damaged(let damage):
      if !findings.contains(where: { $0.file == name }) {
        // What is not the page's own, no compaction removes.
        let isOurs = damage.hasMagic && (damage.id == nil || damage.id == chain.id)
        findings.append(
          Finding(
            .damagedHeader, .damage, file: name, range: 0..<min(damage.size, UInt64(Limits.headerBytes)),
            detail: damage.error.fault
          ).unneeded(isOurs && isOlder(generation, chain)))
      }
    case .absent: break
    case .notAFile:
      noteStranger(Finding(.stranger, .note, file: name, detail: "a directory or a link has the name of a journal"))
    }
  }

  /// Once: the search for the chain may have come by already.
  private mutating func noteStranger(_ finding: Finding) {
    if !findings.contains(finding) { findings.append(finding) }
  }

  private mutating func verify(_ journal: JournalFile, _ chain: Chain) throws(LogStoreError) {
    journal.file.dropCache()
    journal.file.willReadSequentially()
    let successor = try successor(of: journal)
    let end = successor?.predecessor?.end
    let size = journal.status.size
    var walk = JournalWalk(journal.reader(limit: min(size, end ?? size)))
    walk.isSealed = end != nil
    let expected = journal.expectedLength(before: successor)
    walk.isCut = size < expected
    walk.successorLSN = successor?.baseLSN
    walk.skips = try named().naming(journal)
    if let step = step() {
      var made: UInt64 = 0
      walk.progress = { bytes in
        made += bytes
        return step(Progress(.verifying, completedBytes: made, totalBytes: nil))
      }
    }
    var sink = BlindSink()
    try walk.run(&sink)
    frames += walk.outcome.frames
    let isOlder = isOlder(journal.generation, chain)
    for dropped in walk.outcome.dropped {
      findings.append(Finding(damage: dropped, in: journal.name).unneeded(isOlder))
    }
    if size < expected {
      findings.append(
        Finding(
          .missing, .damage, file: journal.name, range: size..<expected, detail: "the file is shorter than it had been"
        ).unneeded(isOlder))
    }
    let base = chain.base?.header.generation ?? 0
    if journal.generation > base, !findings.contains(where: { $0.file == journal.name && $0.kind == .cutOff }) {
      findings.append(
        Finding(
          .offChain, .note, file: journal.name,
          detail: "the present state does not need this file; another took its place"))
    }
  }

  /// Whether all that the journal holds is in the snapshot that the state rests on, which does not need it to be mended.
  private func isOlder(_ generation: UInt64, _ chain: Chain) -> Bool {
    !needsOlder && generation < chain.base?.header.generation ?? 0
  }

  private func successor(of journal: JournalFile) throws(LogStoreError) -> JournalHeader? {
    for other in files.listing.journals where other > journal.generation {
      if let next = try known({ () throws(LogStoreError) in try files.look(atJournal: other).file?.header }),
        let predecessor = next.predecessor,
        predecessor.generation == journal.generation, predecessor.salt == journal.header.salt, predecessor.end != 0
      {
        return next
      }
    }
    return nil
  }

  /// The losses that any journal names, on the chain or not.
  private mutating func named() throws(LogStoreError) -> LossesByJournal {
    if let losses { return losses }
    var found = LossesByJournal([])
    for other in files.listing.journals {
      found.add(
        try known { () throws(LogStoreError) in
          try files.journal(other, isKept: false).file?.losses(goesOn: files.goesOn)
        } ?? [])
    }
    losses = found
    return found
  }

  /// Nil where only a newer version could tell.
  private func known<Value>(_ body: () throws(LogStoreError) -> Value?) throws(LogStoreError) -> Value? {
    do throws(LogStoreError) {
      return try body()
    } catch {
      guard error.code == .newerVersion else { throw error }
      return nil
    }
  }

  /// No writer goes on behind what cannot be true, although every checksum is right.
  private mutating func noteImpossible(_ lsn: UInt64, _ chain: Chain) {
    guard lsn > Limits.writableLSN else { return }
    findings.append(
      Finding(
        .impossible, .damage, file: chain.journals.last?.name ?? chain.base?.name ?? "", lsns: lsn...lsn,
        detail: "the page claims more operations than any page has had, and is not written to",
        remedy: "logctl salvage PAGE -o NEW"))
  }

  private mutating func noteNames() throws(LogStoreError) {
    for name in files.listing.temporaries {
      // One that is gone by now was a writer's at work.
      let kind = try mapped { () throws(StorageError) in try files.directory.status(of: name)?.kind }
      findings.append(
        kind == .directory
          ? Finding(
            .stranger, .note, file: name,
            detail: "a directory has the name of a temporary file, and no writer removes it; move it out of the page's "
              + "directory")
          : Finding(.temporary, .note, file: name, detail: "an unfinished file; the next writer removes it"))
    }
    for name in files.listing.quarantines {
      findings.append(
        Finding(
          .quarantine, .note, file: name,
          detail: "bytes that a recovery has set aside; the page does not need them"))
    }
    for name in files.listing.strangers {
      findings.append(Finding(.stranger, .note, file: name, detail: "not a file of the page; it is left alone"))
    }
  }
}

extension Finding {
  /// In a file that only an earlier state needs: nothing of the present one is lost, and the next compaction that keeps
  /// nothing removes the file.
  fileprivate func unneeded(_ isUnneeded: Bool) -> Finding {
    guard isUnneeded else { return self }
    var finding = self
    finding.detail += "; the present state does not need it"
    finding.lostOperations = nil
    finding.remedy = "logctl compact --keep none PAGE"
    return finding
  }
}
