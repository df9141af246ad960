/// Reads all of a page and says what is wrong with it.
struct Verification {
  let files: PageFiles
  let progress: ProgressHandler?
  var findings: [Finding] = []
  /// Whether the snapshot that the state rests on is damaged, and so what is older may have what it lacks.
  var needsOlder = false
  var done: UInt64 = 0
  private var total: UInt64 = 0
  private var count = 0
  var frames: UInt64 = 0
  var losses: LossesByJournal?
  private let startHelper: HelperStart?
  /// The snapshot that the state rests on, where it is verified beside the journals; and those that it makes unneeded, as
  /// far as they were read meanwhile.
  private var check: SnapshotCheck?
  var others: [UInt64: Result<Other, LogStoreError>] = [:]

  /// From so many bytes of the smaller part on, journals and snapshot are verified on two threads.
  private static let worthwhile: UInt64 = 4 << 20

  init(files: PageFiles, progress: ProgressHandler?, startHelper: HelperStart? = .system) {
    self.files = files
    self.progress = progress
    self.startHelper = startHelper
  }

  mutating func run() throws(LogStoreError) -> VerificationReport {
    let listing = files.listing
    try count(listing.journals.map { PageFile.journal($0).name })
    let journalBytes = total
    try count(listing.snapshots.map { PageFile.snapshot($0).name })
    files.goesOn = step().map { step in { step(Progress(.verifying, completedBytes: 0, totalBytes: nil)) } }
    var finder = ChainFinder(files, until: .now)
    guard let chain = try finder.find() else {
      throw LogStoreError.noFiles(files.directory.path)
    }
    for journal in chain.journals {
      journal.file.dropCache()
      journal.file.willReadSequentially()
    }
    if let base = chain.base, let startHelper, min(base.size, journalBytes) >= Verification.worthwhile {
      check = SnapshotCheck(base, start: startHelper)
    }
    defer { check?.stop() }
    var recovery = Recovery(chain: chain, policy: .salvage)
    recovery.progress = step()
    let result = try recovery.run(BlindModel(), from: chain.base.map { SnapshotBase($0) })
    done += result.journals.reduce(0) { $0 + $1.status.size }
    frames += result.outcomes.reduce(0) { $0 + $1.frames }
    findings = result.report.findings
    if check != nil { try readOthers(chain) }
    try verifySnapshots(chain)
    try adviseOnSnapshots(chain)
    try verifyOthers(chain)
    noteImpossible(result.report.position.lsn, chain)
    try noteNames()
    return VerificationReport(recovery: result.report, findings: findings, files: count, bytes: total, frames: frames)
  }

  private mutating func count(_ names: [String]) throws(LogStoreError) {
    for name in names {
      total += try mapped { () throws(StorageError) in try files.directory.status(of: name)?.size ?? 0 }
      count += 1
    }
  }

  func step() -> ProgressHandler? {
    guard let progress else { return nil }
    let (done, total, check) = (done, total, check)
    return { made in
      let completed = done + made.completedBytes + (check?.completedBytes ?? 0)
      return progress(Progress(.verifying, completedBytes: min(completed, total), totalBytes: total))
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
  mutating func passOver(_ name: String, _ error: LogStoreError, _ isNeeded: Bool) throws(LogStoreError) {
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
      let outcome: SnapshotCheck.Outcome
      let step = step()
      let nothing = Progress(.verifying, completedBytes: 0, totalBytes: nil)
      if let check, check.reader === snapshot, let made = try check.outcome(goesOn: { step?(nothing) ?? true }) {
        outcome = made
      } else {
        outcome = try SnapshotCheck.verify(snapshot, step)
        done += snapshot.size
      }
      findings += outcome.findings
      frames += outcome.frames
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

  /// Once: the search for the chain may have come by already.
  mutating func noteStranger(_ finding: Finding) {
    if !findings.contains(finding) { findings.append(finding) }
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
  func unneeded(_ isUnneeded: Bool) -> Finding {
    guard isUnneeded else { return self }
    var finding = self
    finding.detail += "; the present state does not need it"
    finding.lostOperations = nil
    finding.remedy = "logctl compact --keep none PAGE"
    return finding
  }
}
