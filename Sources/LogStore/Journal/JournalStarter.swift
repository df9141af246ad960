/// Makes a new journal, from its temporary name to its place in the directory.
struct JournalStarter {
  let directory: any StorageDirectory
  let storage: any Storage
  let id: PageID
  let state: UInt32
  let level: Durability

  struct Started {
    var journal: JournalFile
    var end: UInt64
    var operations: UInt64
  }

  struct Failure: Error {
    var error: LogStoreError
    var storage: StorageError
    /// Whether the name may or may not last: neither journal can be appended to.
    var afterRename: Bool
    /// Whether the new name can be there.
    var mayBeNamed: Bool
  }

  func start(_ start: JournalStart) throws(Failure) -> Started {
    var named = false
    var mayBeNamed = false
    var lasts = false
    do throws(LogStoreError) {
      let listing = PageListing(try mapped { () throws(StorageError) in try directory.list() })
      let generation = try listing.nextGeneration(in: directory.path)
      setAside(start.quarantine)
      let temporary = PageFile.journal(generation).temporaryName
      let file = try mapped { () throws(StorageError) in try directory.createTemporary(temporary) }
      do throws(LogStoreError) {
        let started = try build(start, generation, file)
        try mapped { () throws(StorageError) in
          try file.sync(level)
          mayBeNamed = true
          try directory.rename(temporary, to: started.journal.name)
        }
        named = true
        try mapped { () throws(StorageError) in
          try directory.sync(level)
          lasts = true
          if generation == 0 { try directory.syncParent(level) }
        }
        return started
      } catch {
        file.close()
        // Best effort: the next writer removes what cannot be removed now. A name whose sync has failed may stand in the cache
        // alone, and another sync succeed without it: the next process, which knows nothing of that, would put its journal
        // behind one that goes with the power.
        if !lasts { do { try directory.remove(named ? PageFile.journal(generation).name : temporary) } catch {} }
        throw error
      }
    } catch {
      let storage =
        error.cause as? StorageError
        ?? StorageError(.create, errno: StorageError.inputOutput, path: directory.path)
      throw Failure(error: error, storage: storage, afterRename: named, mayBeNamed: mayBeNamed)
    }
  }

  /// Keeps the evidence of what recovery dropped. Best effort: it also stays where it is until its file goes, and a
  /// compaction, which would remove that, insists.
  private func setAside(_ ranges: [QuarantineRange]) {
    let quarantine = Quarantine(directory: directory, level: level)
    for range in ranges {
      do {
        let file = try directory.open(PageFile.journal(range.generation).name, .read)
        defer { file.close() }
        try quarantine.keep(range, from: file)
      } catch {}
    }
  }

  private func build(_ start: JournalStart, _ generation: UInt64, _ file: any StorageFile) throws(LogStoreError)
    -> Started
  {
    let name = PageFile.journal(generation).name
    var header = JournalHeader(
      state: state, id: id, generation: generation, salt: storage.random(), baseLSN: start.baseLSN,
      predecessor: start.predecessor, initialLength: 0,
      inode: try mapped { () throws(StorageError) in try file.status().inode }, time: storage.wallClock())
    var builder = JournalBuilder(file, salt: header.salt)
    for loss in start.losses { try builder.append(loss) }
    for carried in start.carried { try builder.append(carried) }
    header.initialLength = builder.length
    try builder.finish(header)
    let status = try mapped { () throws(StorageError) in try file.status() }
    return Started(
      journal: JournalFile(name: name, path: directory.path(of: name), file: file, header: header, status: status),
      end: header.initialLength, operations: builder.operations)
  }
}
