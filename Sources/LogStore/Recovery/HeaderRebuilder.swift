/// Puts lost journal headers together from what other places say of them (SPEC.md, section 6).
final class HeaderRebuilder {
  let files: PageFiles
  /// The page's identity; what belongs to another page says nothing about this one. Nil where nothing tells it,
  /// which is where no other header verifies.
  let id: PageID?
  /// Gathered once, however many headers are lost.
  private var witnesses: HeaderWitnesses?

  init(_ files: PageFiles, id: PageID?) {
    self.files = files
    self.id = id
  }

  /// The header of the snapshot of that number, if it verifies and is one of this page.
  private func snapshot(_ generation: UInt64) throws(LogStoreError) -> SnapshotHeader? {
    guard let snapshot = try files.look(atSnapshot: generation).file, snapshot.id == id else { return nil }
    return snapshot
  }

  /// The journal with its rebuilt header; nil if its salt or its base LSN cannot be had.
  func rebuild(_ generation: UInt64) throws(LogStoreError) -> JournalFile? {
    let name = PageFile.journal(generation).name
    guard case .file(let file, let status) = try files.open(name) else { return nil }
    var isKept = false
    defer { if !isKept { file.close() } }
    let snapshot = try snapshot(generation)
    let witnesses = try gathered()
    let successor = witnesses.successors[generation]
    let stray = try straySalt(generation, file, name)
    let mark = try firstMark(in: file, size: status.size) { witnesses.salts.contains($0) || $0 == stray }
    guard let salt = snapshot?.journalSalt ?? successor?.predecessor?.salt ?? mark?.salt else {
      return nil
    }
    let lower = witnesses.highest(below: generation)
    let id = snapshot?.id ?? successor?.id ?? lower?.id ?? id ?? PageID(high: 0, low: 0)
    let state = snapshot?.state ?? successor?.state ?? lower?.state ?? 0
    var header = JournalHeader(
      state: state, id: id, generation: generation, salt: salt, baseLSN: snapshot?.lsn ?? 0,
      predecessor: try predecessor(of: generation, lower), initialLength: UInt64(Limits.headerBytes),
      inode: 0, time: 0, isRebuilt: true)
    if snapshot == nil {
      guard let base = try baseLSN(header, file, status.size, name, successor) else { return nil }
      header.baseLSN = base
    }
    isKept = true
    return JournalFile(name: name, path: files.path(name), file: file, header: header, status: status)
  }

  private func gathered() throws(LogStoreError) -> HeaderWitnesses {
    if let witnesses { return witnesses }
    let gathered = try HeaderWitnesses(files, of: id)
    witnesses = gathered
    return gathered
  }

  private func predecessor(of generation: UInt64, _ lower: JournalHeader?) throws(LogStoreError) -> JournalHeader
    .Predecessor?
  {
    if let lower { return .init(generation: lower.generation, salt: lower.salt, end: nil) }
    if generation == 0 { return nil }
    for other in files.listing.snapshots.reversed() where other < generation {
      if let snapshot = try snapshot(other) {
        return .init(generation: other, salt: snapshot.journalSalt, end: 0)
      }
    }
    // There is nothing for it to follow, and it is no first journal: no chain may lead on from it.
    return .init(generation: generation, salt: 0, end: 0)
  }

  /// The salt in a header that stands in this file and is another journal's.
  private func straySalt(
    _ generation: UInt64, _ file: any StorageFile, _ name: String
  ) throws(LogStoreError) -> UInt64? {
    let bytes = try files.head(of: file, files.path(name))
    guard unsafe FileHeader.judge(bytes.bytes, magic: FileHeader.journalMagic) == .good,
      let base = unsafe bytes.bytes.baseAddress, unsafe base.load(40, as: UInt64.self) != generation
    else { return nil }
    return unsafe base.load(48, as: UInt64.self)
  }

  /// The first mark in the file that verifies under the salt it carries itself. Bytes of other journals that stand in this
  /// file, written to the wrong place, say nothing of it.
  private func firstMark(
    in file: any StorageFile, size: UInt64, isForeign: (UInt64) -> Bool
  ) throws(LogStoreError) -> Mark? {
    let window = FileWindow(file, limit: size)
    let progress = files.goesOn.map { goesOn in ReadingProgress(files.directory.path, from: 0) { _ in goesOn() } }
    var offset: UInt64 = 0
    while true {
      try progress?.come(to: offset)
      let bytes = try unsafe mapped(offset: offset) { () throws(StorageError) in
        try unsafe window.bytes(at: offset, count: Mark.frameBytes)
      }
      let last = bytes.count - Mark.frameBytes
      guard let base = bytes.baseAddress, last >= 0 else { return nil }
      for place in 0...last
      where unsafe base.load(place + 8, as: UInt8.self) == FrameType(.mark).rawValue
        && base.load(place, as: UInt32.self) == UInt32(Mark.payloadBytes)
      {
        let payload = unsafe UnsafeRawBufferPointer(
          start: base + place + Limits.frameOverhead, count: Mark.payloadBytes)
        let at = offset + UInt64(place)
        if let mark = unsafe Mark(payload), !isForeign(mark.salt),
          case .good = unsafe FrameCodec(salt: mark.salt).check(
            base + place, available: bytes.count - place, offset: at),
          mark.durableEnd <= at
        {
          return mark
        }
      }
      offset += UInt64(last + 1)
    }
  }

  /// The LSN that the journal began with: counted back from its first mark, or from its end where a successor names it.
  private func baseLSN(
    _ header: JournalHeader, _ file: any StorageFile, _ size: UInt64, _ name: String, _ successor: JournalHeader?
  ) throws(LogStoreError) -> UInt64? {
    func walk(upTo limit: UInt64, _ sink: inout FirstMark) throws(LogStoreError) -> JournalOutcome {
      let reader = JournalReader(file: file, name: name, path: files.path(name), header: header, limit: limit)
      var walk = JournalWalk(reader)
      // Nothing may be taken for a torn tail, and nothing behind damage counts.
      walk.isSealed = true
      walk.policy = .pointInTime
      if let goesOn = files.goesOn { walk.progress = { _ in goesOn() } }
      try walk.run(&sink)
      return walk.outcome
    }
    var sink = FirstMark()
    _ = try walk(upTo: size, &sink)
    if let mark = sink.mark { return mark.lsn >= sink.operations ? mark.lsn - sink.operations : nil }
    guard let successor, let end = successor.predecessor?.end,
      end <= max(size, UInt64(Limits.headerBytes))
    else { return nil }
    let outcome = try walk(upTo: end, &sink)
    guard !outcome.stoppedAtDamage, successor.baseLSN >= outcome.operations else { return nil }
    return successor.baseLSN - outcome.operations
  }
}

/// Counts the operations in front of the first mark.
private struct FirstMark: JournalSink {
  private(set) var mark: Mark?
  private(set) var operations: UInt64 = 0

  mutating func take(_ frame: JournalFrame) throws(LogStoreError) {}
  mutating func abandon() {}

  mutating func commit(_ batch: ReplayedBatch) throws(LogStoreError) -> Bool {
    if mark == nil { operations += batch.operations }
    return mark == nil
  }

  mutating func mark(_ mark: Mark, _ frame: JournalFrame) {
    if self.mark == nil { self.mark = mark }
  }
}
