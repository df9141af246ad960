/// A frame of a journal, as a tool shows it.
public struct FrameInfo: Sendable, Hashable {
  /// The LSN of the operation, or of the last one in front of a frame that is none.
  public var lsn: UInt64
  public var generation: UInt64
  /// Where the frame starts in its journal.
  public var offset: UInt64
  /// Bytes of the payload.
  public var length: UInt32
  public var kind: FrameKind
  /// Whether the frame begins, and whether it ends, a batch.
  public var isFirst: Bool
  public var isLast: Bool
  /// The key that an operation names.
  public var key: [UInt8]?
  /// What a mark says.
  public var mark: MarkInfo?
}

/// What a mark says.
public struct MarkInfo: Sendable, Hashable {
  public var lsn: UInt64
  /// Everything in front of this offset was durable.
  public var durableEnd: UInt64
  /// Nanoseconds since 1970.
  public var nanoseconds: Int64
  public var isClosed: Bool
}

/// Shows the frames of the journals that lead to the present state.
struct FrameListing {
  private let journals: [JournalFile]
  private let skips: LossesByJournal
  private let first: UInt64
  private let last: UInt64
  private let progress: ProgressHandler?

  init(files: PageFiles, first: UInt64, last: UInt64, progress: ProgressHandler?) throws(LogStoreError) {
    self.first = first
    self.last = last
    self.progress = progress
    files.goesOn = progress.map { progress in
      { progress(Progress(.replaying, completedBytes: 0, totalBytes: nil)) }
    }
    var finder = ChainFinder(files, until: .now)
    guard let chain = try finder.find() else {
      throw LogStoreError.noFiles(files.directory.path)
    }
    var journals = chain.journals
    // Further back than the base, as far as generations are kept.
    while let predecessor = journals.first?.header.predecessor, predecessor.end != 0,
      let previous = try files.journal(predecessor.generation).file, previous.header.salt == predecessor.salt
    {
      journals.insert(previous, at: 0)
    }
    self.journals = journals
    skips = LossesByJournal(
      try RecordedLosses.all(handedDown: chain.base?.losses() ?? [], journals, goesOn: files.goesOn))
  }

  func run(_ body: (FrameInfo) throws -> Bool) throws {
    guard first <= last else { return }
    let total = journals.reduce(0) { $0 + $1.status.size }
    var done: UInt64 = 0
    for (index, journal) in journals.enumerated() {
      let next = index + 1 < journals.count ? journals[index + 1].header : nil
      let end = next?.predecessor?.end
      if let next, next.baseLSN < first {
        done += journal.status.size
        continue
      }
      if journal.header.baseLSN > last { return }
      var walk = JournalWalk(journal.reader(limit: min(journal.status.size, end ?? journal.status.size)))
      walk.isSealed = end != nil
      walk.isCut = journal.status.size < journal.expectedLength(before: next)
      walk.successorLSN = next?.baseLSN
      walk.skips = skips.naming(journal)
      if let progress {
        walk.progress = { bytes in
          done += bytes
          return progress(Progress(.replaying, completedBytes: min(done, total), totalBytes: total))
        }
      }
      try withoutActuallyEscaping(body) { body in
        var sink = FrameSink(
          generation: journal.generation, lsn: journal.header.baseLSN, range: first...last, body: body)
        try walk.run(&sink)
        if let failure = sink.failure { throw failure }
        if sink.isStopped { done = .max }
      }
      if done == .max { return }
    }
  }
}

/// Hands out the frames of whole batches.
private struct FrameSink: JournalSink {
  let generation: UInt64
  var lsn: UInt64
  let range: ClosedRange<UInt64>
  let body: (FrameInfo) throws -> Bool
  var open: [FrameInfo] = []
  var failure: (any Error)?
  var isStopped = false

  init(generation: UInt64, lsn: UInt64, range: ClosedRange<UInt64>, body: @escaping (FrameInfo) throws -> Bool) {
    self.generation = generation
    self.lsn = lsn
    self.range = range
    self.body = body
  }

  mutating func take(_ frame: JournalFrame) throws(LogStoreError) { open.append(info(frame)) }

  mutating func commit(_ batch: ReplayedBatch) throws(LogStoreError) -> Bool {
    lsn = batch.baseLSN
    for index in open.indices {
      if open[index].kind.isOperation { lsn += 1 }
      open[index].lsn = lsn
      emit(open[index])
    }
    open.removeAll(keepingCapacity: true)
    return !isStopped
  }

  mutating func abandon() { open.removeAll(keepingCapacity: true) }

  mutating func mark(_ mark: Mark, _ frame: JournalFrame) {
    var shown = info(frame)
    shown.lsn = mark.lsn
    shown.mark = MarkInfo(lsn: mark.lsn, durableEnd: mark.durableEnd, nanoseconds: mark.time, isClosed: mark.isClosed)
    lsn = mark.lsn
    emit(shown)
  }

  mutating func loss(_ frame: JournalFrame) {
    var shown = info(frame)
    shown.lsn = lsn
    emit(shown)
  }

  private mutating func emit(_ frame: FrameInfo) {
    guard !isStopped else { return }
    if frame.lsn > range.upperBound {
      isStopped = true
      return
    }
    guard frame.lsn >= range.lowerBound else { return }
    do {
      if try !body(frame) { isStopped = true }
    } catch {
      failure = error
      isStopped = true
    }
  }

  private func info(_ frame: JournalFrame) -> FrameInfo {
    let key = unsafe Array(frame.key)
    return FrameInfo(
      lsn: 0, generation: generation, offset: frame.offset, length: UInt32(unsafe frame.payload.count),
      kind: frame.kind,
      isFirst: frame.type.isFirst, isLast: frame.type.isLast, key: key.isEmpty ? nil : key)
  }
}
