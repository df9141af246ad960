/// Which files a compaction removes, and which it keeps (design: "Page directory and generations").
struct Retirement {
  let files: PageFiles
  /// The page's identity.
  let id: PageID?
  let keep: Retention
  /// The new snapshot's generation; for an estimate, the one that it would have.
  let generation: UInt64
  let now: Int64
  /// Whether space is so short that copies under way must look after themselves.
  var ignoresGrace = false

  /// Files that were needed within the last ten minutes stay, so that a slow copy finds them.
  static let grace: Int64 = 600_000_000_000

  struct Plan {
    var removed: [PageFile] = []
    var kept: [PageFile] = []
    /// Journals that hold what no state ever took in: they get a quarantine's name.
    var setAside: [UInt64] = []
  }

  func plan() throws(LogStoreError) -> Plan {
    var plan = Plan()
    let oldest = try oldestKept()
    for generation in Set(files.listing.journals + files.listing.snapshots).sorted() where generation < self.generation
    {
      if files.listing.journals.contains(generation), try isOurs(journal: generation) {
        if generation >= oldest {
          plan.kept.append(.journal(generation))
        } else if try isCutOff(journal: generation) {
          plan.setAside.append(generation)
        } else {
          plan.removed.append(.journal(generation))
        }
      }
      if files.listing.snapshots.contains(generation), try isOurs(snapshot: generation) {
        if generation < oldest, try !isCutOff(snapshot: generation) {
          plan.removed.append(.snapshot(generation))
        } else {
          plan.kept.append(.snapshot(generation))
        }
      }
    }
    return plan
  }

  /// Everything before this generation goes.
  private func oldestKept() throws(LogStoreError) -> UInt64 {
    let before: Int
    switch keep {
    case .none: return generation
    case .all: return 0
    case .previous: before = 1
    case .count(let count): before = max(count, 0)
    }
    // Only snapshots that verify count: otherwise mending a damaged one would remove the one it was mended from.
    var verified: [SnapshotReader] = []
    for number in files.listing.snapshots.reversed() where number < generation {
      if let snapshot = try known({ () throws(LogStoreError) in try files.snapshot(number).file }),
        snapshot.header.id == id
      {
        verified.append(snapshot)
      }
    }
    guard before > 0 else { return generation }
    guard verified.count >= before else { return 0 }
    if ignoresGrace { return verified[before - 1].header.generation }
    // The newest that has stood long enough, from the one that the setting keeps on down.
    for snapshot in verified[(before - 1)...] where now - snapshot.header.time >= Retirement.grace {
      return snapshot.header.generation
    }
    return 0
  }

  /// Whether the journal holds what a gap has cut off from every state since. One that another took the place of before
  /// anything was written to it is no such file.
  private func isCutOff(journal generation: UInt64) throws(LogStoreError) -> Bool {
    if try chain().contains(generation) { return false }
    guard let journal = try files.journal(generation).file else { return true }
    return journal.status.size > journal.header.initialLength
  }

  /// Whether the snapshot verifies and is one that the chain does not know.
  private func isCutOff(snapshot generation: UInt64) throws(LogStoreError) -> Bool {
    if try chain().contains(generation) { return false }
    return try files.snapshot(generation).file != nil
  }

  /// Generations that lead to the present state, back as far as their files are kept.
  private func chain() throws(LogStoreError) -> Set<UInt64> {
    var found: Set<UInt64> = []
    var number: UInt64? = files.listing.journals.last
    while let generation = number, found.insert(generation).inserted,
      let journal = try known({ () throws(LogStoreError) in try files.journal(generation).file })
    {
      number = journal.header.predecessor?.generation
    }
    return found
  }

  /// A file of another page, of a newer version, or none at all, is not this one's to remove.
  private func isOurs(journal generation: UInt64) throws(LogStoreError) -> Bool {
    try isOurs { () throws(LogStoreError) in
      try files.journal(generation)
    } id: {
      $0.header.id
    }
  }

  private func isOurs(snapshot generation: UInt64) throws(LogStoreError) -> Bool {
    try isOurs { () throws(LogStoreError) in
      try files.snapshot(generation)
    } id: {
      $0.header.id
    }
  }

  private func isOurs<File>(
    _ read: () throws(LogStoreError) -> PageFiles.Candidate<File>, id: (File) -> PageID
  ) throws(LogStoreError) -> Bool {
    switch try known(read) {
    case .usable(let file): id(file) == self.id
    case .damaged(let damage): damage.hasMagic && (damage.id == nil || damage.id == self.id)
    case .absent, .notAFile, nil: false
    }
  }

  /// Nil for what a newer version wrote.
  private func known<Value>(_ read: () throws(LogStoreError) -> Value?) throws(LogStoreError) -> Value? {
    do {
      return try read()
    } catch {
      guard error.code == .newerVersion else { throw error }
      return nil
    }
  }
}
