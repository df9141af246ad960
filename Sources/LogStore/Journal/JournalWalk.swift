/// Replays one journal from front to back, by the rules of SPEC.md, section 7.
struct JournalWalk {
  let reader: JournalReader
  /// The LSN with which the successor begins; nil for the newest journal.
  var successorLSN: UInt64?
  /// Whether the journal ends at `reader.limit` because its successor says so.
  var isSealed = false
  /// Whether the file ends before it should: then no fault can be what a crash leaves.
  var isCut = false
  /// The bytes that earlier recoveries dropped, in the order of the file.
  var skips: [LossRecord] = []
  var policy = RecoveryPolicy.salvage
  /// Where to stop, in front of what came later.
  var until = Moment.now
  /// Called every few MiB with the bytes that were looked at for the first time; false cancels. Also called while a search
  /// behind a fault goes over bytes again.
  var progress: ((UInt64) -> Bool)?

  private(set) var outcome = JournalOutcome()
  private var position = UInt64(Limits.headerBytes)
  private var reported = UInt64(Limits.headerBytes)
  private var batch: OpenBatch?
  /// The end of the stretch that is being replayed.
  private var limit: UInt64 = 0
  /// How many of `skips` the replay has come by.
  private var skipped = 0
  /// By how much dropped and skipped ranges have raised the LSN since the last mark: of them it is known only together how
  /// many operations they held.
  private var guessed: UInt64 = 0
  /// Whether D has been looked for over the whole file.
  private var isSurveyed = false

  private struct OpenBatch {
    var start: UInt64
    var operations: UInt64 = 0
    var awaitsEnd = false
  }

  private static let progressStep: UInt64 = 4 << 20

  init(_ reader: JournalReader) {
    self.reader = reader
    outcome.lsn = reader.header.baseLSN
    outcome.initialLSN = reader.header.baseLSN
  }

  /// Goes on from a place that an earlier walk reached.
  init(_ reader: JournalReader, from start: UInt64, lsn: UInt64) {
    self.reader = reader
    position = start
    reported = start
    outcome.good = start
    outcome.lsn = lsn
  }

  /// Bytes that are still to be walked over.
  var bytesAhead: UInt64 { reader.limit.subtractingCapped(position) }

  /// Whether the end may be what a crash has left: nothing says that the log went on behind it.
  private var isNewest: Bool { !isSealed && !isCut && successorLSN == nil }

  mutating func run<Sink: JournalSink>(_ sink: inout Sink) throws(LogStoreError) {
    outcome.durableEnd = max(outcome.durableEnd, isNewest ? reader.header.initialLength : reader.limit)
    if let progress { reader.progress = ReadingProgress(reader.path, from: position, progress) }
    for (place, loss) in skips.enumerated() where loss.end > position {
      skipped = place
      guard try run(&sink, upTo: min(loss.start, reader.limit)) else { return finish() }
      if position >= reader.limit { return finish() }
      skip(loss)
    }
    skipped = skips.count
    _ = try run(&sink, upTo: reader.limit)
    finish()
  }

  /// Replays up to `end`, where the log ends or is to be skipped. Returns false where the replay is over.
  private mutating func run<Sink: JournalSink>(_ sink: inout Sink, upTo end: UInt64) throws(LogStoreError) -> Bool {
    limit = end
    while position < end {
      if isPast(outcome.lsn, orAt: true) {
        outcome.stoppedBySink = true
        return false
      }
      if let frame = try reader.frame(at: position), frame.end <= end, fits(frame) {
        guard try take(frame, &sink) else { return false }
      } else {
        guard try fault(&sink) else { return false }
      }
    }
    if batch != nil { return try fault(&sink) }
    return true
  }

  private mutating func finish() {
    reader.endSearch()
    if !isSealed { outcome.durableEnd = min(outcome.durableEnd, reader.limit) }
    if outcome.tornTail != nil || outcome.stoppedAtDamage || position != reader.limit { outcome.isClosed = false }
  }

  /// Whether a frame that verifies also stands where such a frame may stand.
  @inline(__always)
  private func fits(_ frame: JournalFrame) -> Bool {
    if frame.kind == .part && frame.type.isLast { return false }
    guard let batch else { return frame.type.isFirst }
    if frame.type.isFirst || frame.end &- batch.start > UInt64(Limits.batchBytes) { return false }
    return !batch.awaitsEnd || frame.kind == .part || frame.kind == .put || frame.kind == .putBefore
      || frame.kind.isApplication
  }

  @inline(__always)
  private mutating func take<Sink: JournalSink>(_ frame: JournalFrame, _ sink: inout Sink) throws(LogStoreError) -> Bool
  {
    let end = frame.end
    outcome.frames &+= 1
    if let mark = frame.mark {
      guard note(mark, frame, &sink) else { return false }
      position = end
      outcome.good = end
      return true
    }
    if frame.kind == .loss {
      sink.loss(frame)
      position = end
      outcome.good = end
      outcome.isClosed = false
      return true
    }
    var open = batch ?? OpenBatch(start: position)
    if frame.kind == .part {
      open.awaitsEnd = true
    } else {
      open.awaitsEnd = false
      open.operations &+= 1
    }
    try sink.take(frame)
    position = end
    guard frame.type.isLast else {
      batch = open
      return true
    }
    batch = nil
    if isPast(outcome.lsn &+ open.operations) {
      sink.abandon()
      outcome.stoppedBySink = true
      return false
    }
    let whole = ReplayedBatch(start: open.start, end: end, baseLSN: outcome.lsn, operations: open.operations)
    outcome.lsn = whole.lsn
    outcome.good = end
    if end <= reader.header.initialLength { outcome.initialLSN = whole.lsn }
    outcome.batches &+= 1
    outcome.operations &+= open.operations
    outcome.isClosed = false
    guard try sink.commit(whole) else {
      outcome.stoppedBySink = true
      return false
    }
    if end &- reported >= JournalWalk.progressStep { try report(end) }
    return true
  }

  /// Whether the replay is to end in front of this LSN; with `orAt`, whether it has to end where it has been reached.
  @inline(__always)
  private func isPast(_ lsn: UInt64, orAt isReached: Bool = false) -> Bool {
    if case .lsn(let last) = until, lsn > last { return true }
    // The end is unknown: what goes past the successor's beginning is repeated there.
    if !isSealed, let successorLSN, isReached ? lsn >= successorLSN : lsn > successorLSN { return true }
    return false
  }

  private mutating func report(_ end: UInt64) throws(LogStoreError) {
    reported = end
    try reader.progress?.come(to: end)
  }

  private mutating func note<Sink: JournalSink>(_ mark: Mark, _ frame: JournalFrame, _ sink: inout Sink) -> Bool {
    if case .time(let latest) = until, mark.time > latest {
      outcome.stoppedBySink = true
      return false
    }
    if !isSealed { outcome.durableEnd = max(outcome.durableEnd, mark.durableEnd) }
    if let last = outcome.lastMark, mark.time < last.time { outcome.clockRanBack = true }
    outcome.lastMark = mark
    outcome.lsn = mark.lsn
    guessed = 0
    outcome.isClosed = mark.isClosed
    sink.mark(mark, frame)
    return true
  }

  private mutating func skip(_ loss: LossRecord) {
    position = min(loss.end, reader.limit)
    outcome.good = position
    pass(loss.count)
    outcome.isClosed = false
  }

  private mutating func pass(_ operations: UInt64) {
    let before = outcome.lsn
    outcome.lsn.pass(operations)
    guessed += outcome.lsn - before
  }

  /// Something at `position` does not verify or does not fit, or the log ends inside a batch.
  /// Returns false where the replay ends here.
  private mutating func fault<Sink: JournalSink>(_ sink: inout Sink) throws(LogStoreError) -> Bool {
    // A first frame inside an open batch: the open one is what is broken, and the frame is where to go on.
    var resumeHere = false
    if batch != nil, position < limit, let frame = try reader.frame(at: position), frame.type.isFirst {
      resumeHere = true
    }
    let at = resumeHere ? outcome.good : position
    if batch != nil {
      batch = nil
      sink.abandon()
    }
    if isNewest, !isSurveyed {
      isSurveyed = true
      outcome.durableEnd = max(outcome.durableEnd, try survey(from: at))
    }
    if isNewest, at >= outcome.durableEnd {
      outcome.tornTail = outcome.good..<reader.limit
      return false
    }
    outcome.isClosed = false
    let next = resumeHere ? position : try firstFrame(behind: position)
    if policy == .strict {
      throw LogStoreError(
        .damaged,
        "a frame that had been durable does not verify; open with the salvage policy, or see `logctl verify`",
        path: reader.path, offset: at, lsn: outcome.lsn)
    }
    if policy == .pointInTime {
      outcome.stoppedAtDamage = true
    }
    let end = next ?? max(min(outcome.durableEnd, limit), outcome.good)
    let loss = try lostOperations(in: outcome.good..<end)
    outcome.dropped.append(
      DroppedRange(
        range: outcome.good..<end, fault: at, lsn: outcome.lsn - guessed, lost: loss.most,
        keys: try keys(in: outcome.good..<end)))
    if policy == .pointInTime { return false }
    pass(min(loss.most, loss.raise))
    outcome.good = end
    position = end
    return true
  }

  /// The next frame that begins a batch, behind a fault.
  private func firstFrame(behind fault: UInt64) throws(LogStoreError) -> UInt64? {
    guard fault < limit else { return nil }
    let resynchronizer = Resynchronizer(reader, limit: limit)
    var place = fault
    // What stands at the fault may itself verify: a frame that continues no batch.
    if let frame = try reader.frame(at: fault), frame.end <= limit {
      place = frame.end
    } else {
      guard let next = try resynchronizer.resume(after: fault) else { return nil }
      place = next
    }
    while place < limit {
      try reader.progress?.come(to: place)
      if let frame = try reader.frame(at: place), frame.end <= limit {
        if frame.type.isFirst { return place }
        place = frame.end
      } else if let next = try resynchronizer.resume(after: place) {
        place = next
      } else {
        return nil
      }
    }
    return nil
  }

  /// The greatest durable end that a mark behind `fault` names.
  private func survey(from fault: UInt64) throws(LogStoreError) -> UInt64 {
    let resynchronizer = Resynchronizer(reader, limit: reader.limit)
    var found: UInt64 = 0
    var place = fault
    while place < reader.limit {
      try reader.progress?.come(to: place)
      if let frame = try reader.frame(at: place) {
        if let mark = frame.mark { found = max(found, mark.durableEnd) }
        place = frame.end
      } else if let next = try resynchronizer.resume(after: place) {
        place = next
      } else {
        break
      }
    }
    return found
  }

  /// Operations lost in a dropped range: exact where the log says later how many there were, otherwise the most that
  /// its bytes could hold. `raise` is what the LSN may rise by without passing what the log says later.
  private func lostOperations(in range: Range<UInt64>) throws(LogStoreError) -> (most: UInt64, raise: UInt64) {
    let bytes = UInt64(range.count)
    // Where the file was cut off, an operation may have begun in fewer bytes than a whole frame has.
    let isCutOff = isCut && range.upperBound == reader.limit
    let most = isCutOff ? Limits.operations(begunIn: bytes) : bytes / UInt64(Limits.frameOverhead)
    var (operations, skips): (UInt64, UInt64) = (0, 0)
    var open: UInt64 = 0
    var isOpen = false
    var place = range.upperBound
    func shared(_ lsn: UInt64) -> (most: UInt64, raise: UInt64) {
      let later = lsn.subtractingCapped(operations)
      let raise = later.subtractingCapped(skips).subtractingCapped(outcome.lsn)
      if guessed == 0, skips == 0 { return (raise, raise) }
      return (min(most, later.subtractingCapped(outcome.lsn - guessed)), raise)
    }
    var ahead = self.skips[skipped...]
    while place < reader.limit {
      try reader.progress?.come(to: place)
      while let loss = ahead.first, loss.end <= place { ahead.removeFirst() }
      if let loss = ahead.first, loss.start <= place {
        if isOpen { return (most, most) }
        skips.pass(loss.count)
        place = min(loss.end, reader.limit)
        continue
      }
      let stop = ahead.first?.start ?? reader.limit
      guard let frame = try reader.frame(at: place), frame.end <= stop, frame.type.isFirst != isOpen else {
        return (most, most)
      }
      isOpen = !frame.type.isLast
      if let mark = frame.mark { return shared(mark.lsn) }
      if frame.kind.isOperation { open += 1 }
      if frame.type.isLast {
        operations += open
        open = 0
      }
      place = frame.end
    }
    guard !isCut, !isOpen, let successorLSN else { return (most, most) }
    return shared(successorLSN)
  }

  /// Some of the keys that frames in a dropped range name, as far as they verify.
  private func keys(in range: Range<UInt64>) throws(LogStoreError) -> [[UInt8]] {
    let most = 16
    var found: [[UInt8]] = []
    let resynchronizer = Resynchronizer(reader, limit: range.upperBound)
    var place = range.lowerBound
    while place < range.upperBound, found.count < most {
      try reader.progress?.come(to: place)
      if let frame = try reader.frame(at: place) {
        let key = unsafe Array(frame.key)
        if !key.isEmpty, !found.contains(key) { found.append(key) }
        place = frame.end
      } else if let next = try resynchronizer.resume(after: place) {
        place = next
      } else {
        break
      }
    }
    return found
  }
}

extension UInt64 {
  /// Goes on by operations that the log only tells of: how many is anybody's claim, so that the sum is capped.
  mutating func pass(_ operations: UInt64) { self = Swift.max(self, Swift.min(self &+ operations, Limits.lsn)) }

  func subtractingCapped(_ other: UInt64) -> UInt64 { self > other ? self - other : 0 }
}
