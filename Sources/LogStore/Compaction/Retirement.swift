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
  /// What recoveries have dropped, as far as it is on record.
  var losses: [LossRecord]

  /// Files that were needed within the last ten minutes stay, so that a slow copy finds them.
  static let grace: Int64 = 600_000_000_000

  struct Plan {
    var removed: [PageFile] = []
    var kept: [PageFile] = []
    /// Journals that hold what no state ever took in: they get a quarantine's name.
    var setAside: [UInt64] = []
    /// Why files that cannot be looked at are among those kept.
    var failures: [LogStoreError] = []
  }

  /// What the page's files are; of those that cannot be looked at nothing is here.
  private struct Seen {
    var journals: [UInt64: PageFiles.Candidate<JournalSight>] = [:]
    var snapshots: [UInt64: PageFiles.Candidate<SnapshotHeader>] = [:]
  }

  func plan() -> Plan {
    var plan = Plan()
    let seen = look(&plan)
    let descent = Descent(from: files.listing.journals, seen.journals, id)
    let oldest = oldestKept(seen)
    for generation in Set(files.listing.journals + files.listing.snapshots).sorted() where generation < self.generation
    {
      if let journal = seen.journals[generation], isOurs(journal, \.header.id) {
        if generation >= oldest {
          plan.kept.append(.journal(generation))
        } else if isCutOff(journal, generation, descent) {
          plan.setAside.append(generation)
        } else {
          plan.removed.append(.journal(generation))
        }
      }
      if let snapshot = seen.snapshots[generation], isOurs(snapshot, \.id) {
        if generation < oldest, !isCutOff(snapshot, generation, descent) {
          plan.removed.append(.snapshot(generation))
        } else {
          plan.kept.append(.snapshot(generation))
        }
      }
    }
    // The names in their order, wherever one could not be looked at.
    plan.kept.sort { ($0.generation, $0.name) < ($1.generation, $1.name) }
    return plan
  }

  private func look(_ plan: inout Plan) -> Seen {
    var seen = Seen()
    for generation in files.listing.journals {
      look(at: .journal(generation), &plan) { () throws(LogStoreError) in
        seen.journals[generation] = try files.look(atJournal: generation)
      }
    }
    for generation in files.listing.snapshots {
      look(at: .snapshot(generation), &plan) { () throws(LogStoreError) in
        seen.snapshots[generation] = try files.look(atSnapshot: generation)
      }
    }
    return seen
  }

  /// What a newer version wrote is not this one's to remove; what cannot be looked at may be anything, and stays.
  private func look(at file: PageFile, _ plan: inout Plan, _ body: () throws(LogStoreError) -> Void) {
    do throws(LogStoreError) {
      try body()
    } catch {
      guard error.code != .newerVersion else { return }
      plan.failures.append(error)
      // The new pair is there anyway.
      if file.generation < generation { plan.kept.append(file) }
    }
  }

  /// Everything before this generation goes.
  private func oldestKept(_ seen: Seen) -> UInt64 {
    let before: Int
    switch keep {
    case .none: return generation
    case .all: return 0
    case .previous: before = 1
    case .count(let count): before = max(count, 0)
    }
    // Only snapshots that verify count: otherwise mending a damaged one would remove the one it was mended from.
    var verified: [SnapshotHeader] = []
    for number in files.listing.snapshots.reversed() where number < generation {
      if let snapshot = seen.snapshots[number]?.file, snapshot.id == id { verified.append(snapshot) }
    }
    guard before > 0 else { return generation }
    guard verified.count >= before else { return 0 }
    if ignoresGrace { return verified[before - 1].generation }
    // The newest that has stood long enough, from the one that the setting keeps on down. A header may give any time.
    for snapshot in verified[(before - 1)...] {
      let (age, isBeyond) = now.subtractingReportingOverflow(snapshot.time)
      if isBeyond ? snapshot.time < now : age >= Retirement.grace { return snapshot.generation }
    }
    return 0
  }

  /// Whether the journal holds what a gap has cut off from every state since. One that another took the place of before
  /// anything was written to it is no such file.
  private func isCutOff(
    _ journal: PageFiles.Candidate<JournalSight>, _ generation: UInt64, _ descent: Descent
  ) -> Bool {
    if descent.linked.contains(generation) { return false }
    switch journal {
    case .usable(let journal):
      return journal.size > journal.header.initialLength
        && (descent.passesOver(generation) || isOnRecord(generation, journal.header.salt, journal.size))
    case .damaged(let damage): return descent.passesOver(generation) || isOnRecord(generation, 0, damage.size)
    case .absent, .notAFile: return false
    }
  }

  /// Whether a recovery has put all of a journal on record as lost.
  private func isOnRecord(_ generation: UInt64, _ salt: UInt64, _ size: UInt64) -> Bool {
    losses.contains {
      $0.generation == generation && $0.salt == salt && $0.start == UInt64(Limits.headerBytes) && $0.end >= size
    }
  }

  /// Whether the snapshot verifies and is one that the chain does not know.
  private func isCutOff(
    _ snapshot: PageFiles.Candidate<SnapshotHeader>, _ generation: UInt64, _ descent: Descent
  ) -> Bool {
    !descent.linked.contains(generation) && descent.passesOver(generation) && snapshot.file != nil
  }

  /// A file of another page, or none at all, is not this one's to remove.
  private func isOurs<File>(_ candidate: PageFiles.Candidate<File>, _ id: (File) -> PageID) -> Bool {
    switch candidate {
    case .usable(let file): id(file) == self.id
    case .damaged(let damage): damage.hasMagic && (damage.id == nil || damage.id == self.id)
    case .absent, .notAFile: false
    }
  }
}
