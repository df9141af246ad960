/// The journals that the present state does not need.
extension Verification {
  mutating func verifyOthers(_ chain: Chain) throws(LogStoreError) {
    for generation in unneeded(chain) {
      do throws(LogStoreError) {
        let other: Other
        if let read = others[generation] { other = try read.get() } else { other = try read(generation, chain) }
        judge(other, generation, chain)
      } catch {
        try passOver(PageFile.journal(generation).name, error, false)
      }
    }
  }

  private func unneeded(_ chain: Chain) -> [UInt64] {
    let needed = Set(chain.journals.map(\.generation))
    return files.listing.journals.filter { !needed.contains($0) }
  }

  /// Reads them while the snapshot is read, which says what their faults mean.
  mutating func readOthers(_ chain: Chain) throws(LogStoreError) {
    for generation in unneeded(chain) {
      do throws(LogStoreError) {
        others[generation] = .success(try read(generation, chain))
      } catch {
        guard error.code != .cancelled else { throw error }
        others[generation] = .failure(error)
      }
    }
  }

  /// What reading a journal that the present state does not need came to.
  enum Other {
    case walked(JournalOutcome, size: UInt64, expected: UInt64)
    case ofPage(PageID)
    case damaged(PageFiles.Damage)
    case absent
    case notAFile
  }

  private mutating func read(_ generation: UInt64, _ chain: Chain) throws(LogStoreError) -> Other {
    switch try files.journal(generation, isKept: false) {
    case .usable(let journal):
      defer { done += journal.status.size }
      if let mine = chain.id, journal.header.id != mine { return .ofPage(journal.header.id) }
      return try walk(journal)
    case .damaged(let damage):
      done += damage.size
      return .damaged(damage)
    case .absent: return .absent
    case .notAFile: return .notAFile
    }
  }

  private mutating func walk(_ journal: JournalFile) throws(LogStoreError) -> Other {
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
    return .walked(walk.outcome, size: size, expected: expected)
  }

  private mutating func judge(_ other: Other, _ generation: UInt64, _ chain: Chain) {
    let name = PageFile.journal(generation).name
    let isOlder = isOlder(generation, chain)
    switch other {
    case .walked(let outcome, let size, let expected):
      frames += outcome.frames
      for dropped in outcome.dropped { findings.append(Finding(damage: dropped, in: name).unneeded(isOlder)) }
      if size < expected {
        findings.append(
          Finding(
            .missing, .damage, file: name, range: size..<expected, detail: "the file is shorter than it had been"
          ).unneeded(isOlder))
      }
      let base = chain.base?.header.generation ?? 0
      if generation > base, !findings.contains(where: { $0.file == name && $0.kind == .cutOff }) {
        findings.append(
          Finding(
            .offChain, .note, file: name,
            detail: "the present state does not need this file; another took its place"))
      }
    case .ofPage(let id):
      findings.append(Finding(.stranger, .note, file: name, detail: "the file belongs to page \(id)"))
    case .damaged(let damage):
      guard !findings.contains(where: { $0.file == name }) else { return }
      // What is not the page's own, no compaction removes.
      let isOurs = damage.hasMagic && (damage.id == nil || damage.id == chain.id)
      findings.append(
        Finding(
          .damagedHeader, .damage, file: name, range: 0..<min(damage.size, UInt64(Limits.headerBytes)),
          detail: damage.error.fault
        ).unneeded(isOurs && isOlder))
    case .absent: break
    case .notAFile:
      noteStranger(Finding(.stranger, .note, file: name, detail: "a directory or a link has the name of a journal"))
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
}
