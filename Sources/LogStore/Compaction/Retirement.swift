/// Which files a compaction removes, and which it keeps (design: "Page directory and generations").
struct Retirement {
  let files: PageFiles
  let chainIDs: PageID
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
      for file in [PageFile.journal(generation), .snapshot(generation)] where isListed(file) {
        if try !isOurs(file) { continue }
        if generation >= oldest {
          plan.kept.append(file)
        } else if try isCutOff(file) {
          if case .journal = file { plan.setAside.append(generation) } else { plan.kept.append(file) }
        } else {
          plan.removed.append(file)
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
        snapshot.header.id == chainIDs
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

  /// Whether the file holds what a gap has cut off from every state since. A journal that another took the place of before
  /// anything was written to it is no such file.
  private func isCutOff(_ file: PageFile) throws(LogStoreError) -> Bool {
    switch file {
    case .journal(let generation):
      if try chain().contains(generation) { return false }
      guard let journal = try files.journal(generation).file else { return true }
      return journal.status.size > journal.header.initialLength
    case .snapshot(let generation):
      // A snapshot that verifies and that the chain does not know.
      if try chain().contains(generation) { return false }
      return try files.snapshot(generation).file != nil
    case .temporary, .quarantine: return false
    }
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

  private func isListed(_ file: PageFile) -> Bool {
    switch file {
    case .journal(let generation): files.listing.journals.contains(generation)
    case .snapshot(let generation): files.listing.snapshots.contains(generation)
    case .temporary, .quarantine: false
    }
  }

  /// A file of another page, of a newer version, or none at all, is not this one's to remove.
  private func isOurs(_ file: PageFile) throws(LogStoreError) -> Bool {
    try known { () throws(LogStoreError) in try isOursIfKnown(file) } ?? false
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

  private func isOursIfKnown(_ file: PageFile) throws(LogStoreError) -> Bool {
    switch file {
    case .journal(let generation):
      switch try files.journal(generation) {
      case .usable(let journal): return journal.header.id == chainIDs
      case .damaged(let damage): return damage.hasMagic
      case .absent, .notAFile: return false
      }
    case .snapshot(let generation):
      switch try files.snapshot(generation) {
      case .usable(let snapshot): return snapshot.header.id == chainIDs
      case .damaged(let damage): return damage.hasMagic
      case .absent, .notAFile: return false
      }
    case .temporary, .quarantine: return false
    }
  }
}
