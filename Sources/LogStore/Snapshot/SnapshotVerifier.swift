/// Reads a snapshot from front to back: every frame in its place and verified, the checksum of the file, and that
/// both tables give every record. Goes on after damage.
struct SnapshotVerifier {
  let reader: SnapshotReader
  private let window: FrameWindow
  private let order: OrderCursor
  private var keys: KeyCheck
  private(set) var findings: [Finding] = []
  private let progress: ProgressHandler?
  private var reported: UInt64 = 0
  private(set) var frames: UInt64 = 0

  init(_ reader: SnapshotReader, progress: ProgressHandler?) {
    self.reader = reader
    self.progress = progress
    window = FrameWindow(reader.source, digests: true)
    order = OrderCursor(reader)
    keys = KeyCheck(reader)
  }

  mutating func run() throws(LogStoreError) -> [Finding] {
    reader.source.file.willReadSequentially()
    try losses()
    if reader.header.state == 0 { try records() } else { try applicationFrames() }
    try orderTable()
    try keyTable()
    try window.digest(upTo: reader.footerOffset)
    if window.digest != reader.footer.checksum {
      report(reader.footerOffset..<reader.size, "the checksum of the whole file does not match")
    }
    findings += try keys.finish()
    try step(reader.size)
    return findings
  }

  private mutating func losses() throws(LogStoreError) {
    let limit = reader.footer.recordsOffset
    var offset = UInt64(Limits.headerBytes)
    while offset < limit {
      let frame = try window.frame(at: offset, limit: limit)
      frames += 1
      if let frame, frame.type == FrameType(.loss),
        window.buffer.lend(frame.payload, { LossRecord(decoding: $0) }) != nil
      {
        offset = frame.end
      } else {
        try report(at: offset, limit, "a recorded loss does not verify")
        // They are all of one size.
        offset += UInt64(SnapshotLayout.lossFrameBytes)
      }
    }
  }

  private mutating func applicationFrames() throws(LogStoreError) {
    let limit = reader.footer.orderOffset
    var offset = reader.footer.recordsOffset
    var count: UInt64 = 0
    var isInside = false
    while offset < limit {
      guard let frame = try window.frame(at: offset, limit: limit), frame.type.isFirst != isInside,
        frame.type.isLast ? frame.type.kind.isApplication : frame.type.kind == .part
      else { return try report(at: offset, limit, "frame \(count) of the application's state does not verify") }
      frames += 1
      isInside = !frame.type.isLast
      if frame.type.isLast { count += 1 }
      offset = frame.end
      try step(offset)
    }
    if isInside || count != reader.footer.count {
      report(reader.footer.recordsOffset..<limit, "there are \(count) frames, not \(reader.footer.count)")
    }
  }

  private mutating func records() throws(LogStoreError) {
    let limit = reader.footer.orderOffset
    var walk = RecordWalk(reader, window)
    var offset = reader.footer.recordsOffset
    var index = 0
    while offset < limit {
      if index < reader.count {
        var start = offset
        offset = try window.forEachRecord(from: offset, limit: limit) { (end, key, _) throws(LogStoreError) in
          try note(index, key)
          try compare(index, SnapshotReader.Place(offset: start, span: Int(end - start)))
          index += 1
          frames += 1
          start = end
          return index < reader.count
        }
        try step(offset)
        guard offset < limit else { break }
      }
      // What is not in memory yet, or no record in one frame, or damage.
      if let end = try walk.next(
        at: offset, index: index, { (index, key) throws(LogStoreError) in try note(index, key) })
      {
        for record in index..<index + walk.records {
          try compare(record, SnapshotReader.Place(offset: offset, span: Int(end - offset)))
        }
        index += walk.records
        frames += walk.frames
        offset = end
      } else if let next = try order.next(after: offset, from: index + 1) {
        report(walk.damage, "record \(index) does not verify")
        index = next.index
        offset = next.offset
      } else {
        report(walk.damage, "record \(index) does not verify, and nothing behind it can be found")
        return
      }
      try step(offset)
    }
    if index != reader.count {
      report(reader.footer.recordsOffset..<limit, "there are \(index) records, not \(reader.count)")
    }
  }

  /// Has a record's key looked for.
  private mutating func note(_ index: Int, _ key: RawSpan) throws(LogStoreError) {
    if keys.isFull(for: index) { findings += try keys.checkAll() }
    keys.add(index, reader.hash(key))
  }

  /// Whether the order table gives the place where the record was found.
  private mutating func compare(_ index: Int, _ place: SnapshotReader.Place) throws(LogStoreError) {
    guard let entry = try order.place(index), entry != place else { return }
    report(order.frameRange(index), "the order table gives record \(index) another place than its own")
  }

  private mutating func orderTable() throws(LogStoreError) {
    var first = 0
    while first < reader.count {
      let range = order.frameRange(first)
      frames += 1
      let frame = try window.frame(at: range.lowerBound, limit: range.upperBound)
      if frame?.type != FrameType(.order) || frame?.end != range.upperBound {
        report(range, "the places of records \(first) and following do not verify")
      }
      first += SnapshotLayout.orderEntries
      try step(range.upperBound)
    }
  }

  private mutating func keyTable() throws(LogStoreError) {
    let size = UInt64(SnapshotLayout.bucketFrameBytes)
    var offset = reader.footer.keysOffset
    var bucket: UInt64 = 0
    var taken = 0
    var isWhole = true
    while offset < reader.footerOffset {
      let range = offset..<offset + size
      frames += 1
      if let frame = try window.frame(at: offset, limit: range.upperBound), frame.type == FrameType(.keys),
        frame.end == range.upperBound
      {
        let slots = window.buffer.lend(frame.payload) { slots in
          keys.take(slots, of: bucket)
          return SnapshotBucket.slots(slots, count: reader.count)
        }
        if let slots { taken += slots } else { report(range, "a bucket of the key table is malformed") }
      } else {
        report(range, "a bucket of the key table does not verify")
        isWhole = false
      }
      bucket += 1
      offset = range.upperBound
      try step(offset)
    }
    if isWhole, taken != reader.count {
      report(reader.footer.keysOffset..<offset, "the key table holds \(taken) records, not \(reader.count)")
    }
  }

  private mutating func report(_ range: Range<UInt64>, _ what: String) {
    findings.append(.damagedSnapshot(reader.name, range, what))
  }

  private mutating func report(at offset: UInt64, _ limit: UInt64, _ what: String) throws(LogStoreError) {
    report(try window.damagedRange(at: offset, limit: limit), what)
  }

  private mutating func step(_ done: UInt64) throws(LogStoreError) {
    guard let progress, done >= reported + (4 << 20) || done == reader.size else { return }
    reported = done
    guard progress(Progress(.verifying, completedBytes: done, totalBytes: reader.size)) else {
      throw LogStoreError(.cancelled, "cancelled while the snapshot was read", path: reader.path)
    }
  }
}
