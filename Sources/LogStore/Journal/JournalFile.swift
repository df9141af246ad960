/// An open journal: its file and what its header says.
final class JournalFile: Sendable {
  let name: String
  let path: String
  let file: PreservingFile
  let header: JournalHeader
  let codec: FrameCodec
  /// As it was when the journal was opened.
  let status: FileStatus

  init(name: String, path: String, file: any StorageFile, header: JournalHeader, status: FileStatus) {
    self.name = name
    self.path = path
    self.file = PreservingFile(file, path: path)
    self.header = header
    self.status = status
    codec = FrameCodec(salt: header.salt)
  }

  var generation: UInt64 { header.generation }
  /// Whether the file is the one that its writer made, not a copy of it.
  var isOriginal: Bool { status.inode == header.inode }

  /// What the file holds at least: up to where its successor takes over, or as much as it began with.
  func expectedLength(before successor: JournalHeader?) -> UInt64 {
    successor?.predecessor?.end ?? (successor == nil ? header.initialLength : 0)
  }

  func reader(from first: UInt64 = 0, limit: UInt64) -> JournalReader {
    JournalReader(file: file, name: name, path: path, header: header, from: first, limit: limit)
  }

  /// The losses that the journal names behind its header: those that a walk over it takes in front of any other frame.
  ///
  /// - Parameters:
  ///   - skips: what is known to be lost of this journal.
  ///   - successor: the journal behind it, which may say where the log ends.
  ///   - goesOn: asked now and then while that takes long; false cancels.
  func losses(
    skipping skips: [LossRecord] = [], before successor: JournalFile? = nil, goesOn: (() -> Bool)? = nil
  ) throws(LogStoreError) -> [LossRecord] {
    let end = successor?.header.predecessor?.end
    let reader = reader(limit: min(status.size, end ?? status.size))
    // As good as always: the log begins with something else, and nothing need be walked over.
    if skips.isEmpty, let first = try reader.frame(at: UInt64(Limits.headerBytes)), first.kind != .loss,
      first.type.isFirst, first.kind != .part || !first.type.isLast
    {
      return []
    }
    var walk = JournalWalk(reader)
    // Where the end is unknown the state stops at the successor's LSN; what is lost is told all the same.
    walk.isSealed = successor != nil
    walk.isCut = status.size < expectedLength(before: successor?.header)
    walk.skips = skips
    if let goesOn { walk.progress = { _ in goesOn() } }
    var sink = LeadingLosses()
    try walk.run(&sink)
    return sink.losses
  }

  deinit { file.close() }
}

/// Gathers losses up to the first frame that is none.
private struct LeadingLosses: JournalSink {
  private(set) var losses: [LossRecord] = []
  private var isOver = false

  mutating func take(_ frame: JournalFrame) throws(LogStoreError) { isOver = true }
  mutating func commit(_ batch: ReplayedBatch) throws(LogStoreError) -> Bool { false }
  mutating func abandon() {}
  mutating func mark(_ mark: Mark, _ frame: JournalFrame) { isOver = true }
  mutating func loss(_ frame: JournalFrame) { if !isOver, let loss = frame.loss { losses.append(loss) } }
}
