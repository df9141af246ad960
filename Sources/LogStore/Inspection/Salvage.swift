/// What a salvage copied, and what it could not.
public struct SalvageReport: Sendable, Hashable {
  /// Where the new page is.
  public var path: String
  /// Records of the new page; frames where the page holds an application's own state.
  public var records: UInt64
  /// Bytes of keys and values (or payloads) copied.
  public var bytes: UInt64
  /// What could not be read, or was dropped.
  public var findings: [Finding]
}

extension PageInspector {
  /// Copies everything readable into a new page at `destination`, around read errors and damage.
  ///
  /// The source is not changed. The new page has its own identity, and holds what could be read as one history: the
  /// snapshot's records, then the operations of the journals.
  ///
  /// - Throws: `cannotCreate` where there is something at `destination`; what opening throws where nothing can be read at all.
  public func salvage(
    to destination: String, options: PageOptions = PageOptions(), progress: ProgressHandler? = nil
  ) throws(LogStoreError) -> SalvageReport {
    let tolerant = TolerantStorage(storage: storage)
    let directory = try PageInspector.open(path, tolerant)
    defer { directory.close() }
    let files = try PageFiles(directory, cacheBytes: options.cacheBytes)
    files.goesOn = progress.map { progress in { progress(Progress(.copying, completedBytes: 0, totalBytes: nil)) } }
    var reading = PageOptions()
    reading.storage = tolerant
    let source = try SalvageSource(files, Healer(path: path, options: reading))
    var created = options
    created.storage = storage
    created.policy = .salvage
    created.compaction = .manual
    let copier = try SalvageCopier(to: destination, state: source.state, options: created, progress: progress)
    do throws(LogStoreError) {
      try source.copy(to: copier)
      let records = try copier.finish()
      return SalvageReport(
        path: destination, records: records, bytes: copier.bytes,
        findings: (tolerant.unreadable.findings + source.findings).map(\.withoutRemedy))
    } catch {
      copier.abandon()
      throw error
    }
  }
}

/// What can be read of a page, whether or not it could be opened.
final class SalvageSource {
  private let files: PageFiles
  private let healer: Healer
  private var base: SnapshotReader?
  /// A snapshot that cannot be opened, where there is none that can.
  private var raw: RawSnapshot?
  private var journals: [JournalFile] = []
  private(set) var findings: [Finding] = []

  init(_ files: PageFiles, _ healer: Healer) throws(LogStoreError) {
    self.files = files
    self.healer = healer
    var finder = ChainFinder(files, until: .now)
    do throws(LogStoreError) {
      if let chain = try finder.find() {
        (base, journals) = (chain.base, chain.journals)
        findings = chain.findings
        try goAroundBase()
        return
      }
      throw LogStoreError.noFiles(files.directory.path)
    } catch {
      guard error.code == .noBase || error.code == .damaged || error.code == .foreignFile else { throw error }
      try gather(error, finder)
    }
  }

  /// An application's frames mean something only together: where not all of the snapshot's verify, the state is copied from
  /// the generation kept before it, as opening reads it then.
  private func goAroundBase() throws(LogStoreError) {
    guard let newest = base, newest.header.state != 0 else { return }
    var (source, earlier, damage): (SnapshotReader?, [JournalFile], [Finding]) = (newest, [], [])
    while let reader = source, let fault = try SalvageSource.fault(in: reader) {
      do throws(LogStoreError) {
        let (result, behind) = try healer.rebuild(BlindModel(), behind: reader)
        earlier = result.journals + earlier
        source = behind?.reader
      } catch {
        // Nothing whole is kept: what verifies of the snapshot is what there is.
        return try refuseUnavailable(error)
      }
      // The damage is reported either way; where its extent cannot be read, at the header.
      damage.append(
        Finding.damagedSnapshot(
          reader.name, fault.offset.flatMap { try? reader.damagedRange(at: $0) } ?? 0..<UInt64(Limits.headerBytes),
          "\(fault.fault); the application's state is copied from the kept generation"))
    }
    (base, journals) = (source, earlier + journals)
    findings += damage
  }

  /// What keeps a snapshot's frames from being read; nil where all verify.
  private static func fault(in reader: SnapshotReader) throws(LogStoreError) -> LogStoreError? {
    do {
      try reader.applicationFrames { _, _ in }
      return nil
    } catch {
      try refuseUnavailable(error)
      return LogStoreError.own(error, "the snapshot cannot be read", path: reader.path)
    }
  }

  var state: UInt32 { journals.last?.header.state ?? base?.header.state ?? 0 }

  /// Without a chain: the newest snapshot that can be read at all, and the journals from there on. `finder` knows which files
  /// are another page's.
  private func gather(_ error: LogStoreError, _ finder: ChainFinder) throws(LogStoreError) {
    for generation in files.listing.snapshots.reversed() where base == nil {
      base = try finder.snapshot(generation).file
    }
    var first = base?.header.generation ?? 0
    if base == nil {
      for generation in files.listing.snapshots.reversed() where raw == nil {
        let name = PageFile.snapshot(generation).name
        guard case .damaged = try finder.snapshot(generation) else { continue }
        guard case .file(let file, _) = try files.open(name) else { continue }
        raw = try RawSnapshot(file, name: name, path: files.path(name))
        if raw != nil { first = generation }
      }
    }
    let rebuilder = HeaderRebuilder(files, id: finder.id)
    for generation in files.listing.journals where generation >= first {
      switch try finder.journal(generation) {
      case .usable(let journal): journals.append(journal)
      case .damaged:
        if let journal = try rebuilder.rebuild(generation) { journals.append(journal) }
      case .absent, .notAFile:
        guard let other = try files.journal(generation).file else { continue }
        findings.append(
          Finding(
            .stranger, .note, file: other.name,
            detail: "the file belongs to page \(other.header.id), and is not copied"))
      }
    }
    guard base != nil || raw != nil || !journals.isEmpty else { throw error }
    if error.code == .foreignFile, isWhole {
      findings.append(
        Finding(
          .stranger, .note, file: String(error.path?.split(separator: "/").last ?? ""),
          detail:
            "something that is no file of the page has this name; everything stands in the generations kept beside it"
        ))
      return
    }
    findings.append(
      Finding(
        .missing, .damage, file: PageFile.journal(first).name,
        detail:
          "nothing complete to start from is left: what stands in the files is copied in their order, and may be older or have gaps"
      ))
  }

  /// Whether what was gathered is one history without a gap: only a stranger has kept opening from it.
  private var isWhole: Bool {
    guard raw == nil, let oldest = journals.first?.header else { return false }
    let isFounded = base.map { $0.header.journalSalt == oldest.salt } ?? (oldest.predecessor == nil)
    return isFounded && zip(journals, journals.dropFirst()).allSatisfy { $1.header.follows($0.header) }
  }

  func copy(to copier: SalvageCopier) throws(LogStoreError) {
    if let base { try copy(base, to: copier) }
    if let raw { try copy(raw, to: copier) }
    var losses: [LossRecord] = []
    do throws(LogStoreError) {
      losses += try base?.losses() ?? []
    } catch {
      findings.append(
        Finding(
          .damagedSnapshot, .damage, file: base?.name ?? "",
          detail: "its recorded losses cannot be read: \(error.message)"))
    }
    losses = try RecordedLosses.all(handedDown: losses, journals, goesOn: copier.goesOn)
    let skips = LossesByJournal(losses)
    for (index, journal) in journals.enumerated() {
      let next = index + 1 < journals.count ? journals[index + 1].header : nil
      let isNext = next?.follows(journal.header) ?? false
      let end = isNext ? next?.predecessor?.end : nil
      var walk = JournalWalk(journal.reader(limit: min(journal.status.size, end ?? journal.status.size)))
      walk.isSealed = end != nil
      let expected = journal.expectedLength(before: isNext ? next : nil)
      walk.isCut = journal.status.size < expected
      walk.successorLSN = isNext ? next?.baseLSN : nil
      walk.skips = skips.naming(journal)
      walk.progress = { _ in copier.goesOn() }
      var sink = SalvageSink(copier)
      try walk.run(&sink)
      findings += walk.outcome.dropped.map { Finding(damage: $0, in: journal.name) }
      if journal.status.size < expected {
        findings.append(
          Finding(
            .missing, .damage, file: journal.name, range: journal.status.size..<expected,
            detail: "the end of the journal is missing"))
      }
    }
    for loss in losses { findings.append(Finding(recorded: loss)) }
  }

  private func copy(_ raw: RawSnapshot, to copier: SalvageCopier) throws(LogStoreError) {
    findings.append(
      Finding.damagedSnapshot(
        raw.name, 0..<UInt64(Limits.headerBytes),
        "its header or footer does not verify: every record that verifies by itself is copied"))
    do {
      findings += try raw.forEach(goesOn: copier.goesOn) { key, value in
        try unsafe copier.put(key.span.bytes, value.span.bytes)
      }
    } catch {
      throw LogStoreError.own(error, "the snapshot cannot be read")
    }
  }

  /// The records of a snapshot in page order: all that verify, or that the kept generation has.
  private func copy(_ base: SnapshotReader, to copier: SalvageCopier) throws(LogStoreError) {
    if base.header.state != 0 {
      var destinationFailure: LogStoreError?
      do {
        try base.applicationFrames { kind, payload in
          do throws(LogStoreError) {
            try copier.application(kind, payload)
          } catch {
            destinationFailure = error
            throw error
          }
        }
      } catch {
        if let destinationFailure { throw destinationFailure }
        try refuseUnavailable(error)
        findings.append(
          Finding(
            .damagedSnapshot, .damage, file: base.name, detail: "the application's state is copied up to here: \(error)"
          ))
      }
      return
    }
    let healed = healer.base(base, onHeal: nil)
    var next = 0
    while next < base.count {
      var destinationFailure: LogStoreError?
      do {
        try base.forEach(in: next..<base.count) { key, value in
          do throws(LogStoreError) {
            try copier.put(key, value)
          } catch {
            destinationFailure = error
            throw error
          }
          next += 1
          return true
        }
      } catch {
        if let destinationFailure { throw destinationFailure }
        try refuseUnavailable(error)
        try copier.checkGoesOn()
        // Around this one record; its neighbours stand in their own places.
        let place = error as? LogStoreError
        let kept = healed?.record(at: next)
        if let kept { try unsafe copier.put(kept.key.span.bytes, kept.value.span.bytes) }
        // Where the frame's own length cannot be read, at least the place is known.
        findings.append(
          Finding(
            .damagedSnapshot, .damage, file: base.name,
            range: place?.offset.map { (try? base.damagedRange(at: $0)) ?? $0..<($0 + 1) },
            detail: "record \(next) in page order cannot be read: \(place?.fault ?? "\(error)")"
              + (kept == nil ? "" : "; copied from the kept generation"),
            lostOperations: kept == nil ? 1 : nil))
        next += 1
      }
    }
  }
}

/// What is refused for now is whole: a copy without it would pass for all that there is.
private func refuseUnavailable(_ error: any Error) throws(LogStoreError) {
  if let error = error as? LogStoreError, error.code == .unavailable { throw error }
}

/// Hands whole batches on.
private struct SalvageSink: JournalSink {
  let copier: SalvageCopier

  init(_ copier: SalvageCopier) { self.copier = copier }

  mutating func take(_ frame: JournalFrame) throws(LogStoreError) { try copier.add(frame) }
  mutating func commit(_ batch: ReplayedBatch) throws(LogStoreError) -> Bool {
    try copier.endBatch()
    return true
  }
  mutating func abandon() { copier.dropBatch() }
}
