/// Writes a snapshot under a temporary name: records in page order (or an application's frames), then `finish`, which
/// leaves a durable, verified file for the caller to rename. After any error, and instead of finishing, `cancel`.
///
/// Memory stays below about 48 MiB however many records there are. Small records cost neither a system call nor an
/// allocation each. One thread at a time.
final class SnapshotWriter {
  struct Settings {
    var compression: Compression = .none
    /// How `finish` syncs the file.
    var durability: Durability = .power
    /// Values that do not fit one frame of this payload are written in parts.
    var partBytes = 1 << 20
    /// Records whose table entries are kept in memory; those of more go to a second temporary file.
    var entriesInMemory = 1 << 19
    /// So much is read back at once beside the writing. What is not twice as long is read back in the end, without
    /// another thread.
    var readBackBytes = 4 << 20
    /// Has it read back.
    var startHelper = HelperStart.system
    /// How many records there may be; only tests lower it.
    var records = SnapshotLayout.maximumRecords
  }

  let header: SnapshotHeader
  let temporaryName: String
  let codec: FrameCodec
  let settings: Settings
  let directory: any StorageDirectory
  let tablesName: String
  let output: SnapshotOutput
  let readBack: ReadBackThread
  let recordsOffset: UInt64
  private let hasher: SipHash
  var order = OrderTableWriter()
  var keys = KeyTableWriter()
  var spool: TableSpool?
  let blocks: BlockBuilder?
  /// The record that `begin` has begun.
  private var open: LongRecord?
  /// Frames of an application's state.
  var frames: UInt64 = 0
  var state = State.writing

  enum State { case writing, finished, failed, cancelled }

  /// `name` is what the caller will rename the file to.
  init(
    directory: any StorageDirectory, name: String, header: SnapshotHeader, losses: [LossRecord] = [],
    settings: Settings = Settings()
  ) throws(LogStoreError) {
    self.directory = directory
    self.header = header
    self.settings = settings
    temporaryName = name + ".tmp"
    tablesName = name + ".tables.tmp"
    codec = FrameCodec(salt: header.salt)
    hasher = SipHash(k0: header.salt, k1: header.generation)
    blocks = settings.compression == .deflate ? BlockBuilder() : nil
    let file: any StorageFile
    do { file = try directory.createTemporary(temporaryName) } catch {
      throw LogStoreError(error)
    }
    let check = SnapshotReadBack(file, path: directory.path(of: temporaryName), header: header, settings: settings)
    readBack = ReadBackThread(file, check, settings)
    output = SnapshotOutput(file, readBack, pieceBytes: min(SnapshotOutput.pieceBytes, settings.readBackBytes))
    header.append(to: output.buffer)
    for loss in losses {
      let start = output.buffer.openFrame()
      loss.append(to: output.buffer)
      output.buffer.sealFrame(start, FrameType(.loss), offset: output.offset(of: start), codec: codec)
    }
    recordsOffset = output.offset
  }

  /// Writes one record.
  func append(key: RawSpan, value: RawSpan) throws(LogStoreError) {
    try check(key, value.byteCount)
    if let blocks, blocks.wants(SnapshotLayout.blockRecordHeadBytes + key.byteCount + value.byteCount) {
      try noteKey(key)
      blocks.add(key, value)
      if blocks.isFull { try attempt { () throws(StorageError) in try closeBlock() } }
      return
    }
    guard key.byteCount + value.byteCount + 2 <= settings.partBytes else {
      try begin(key: key, valueLength: value.byteCount)
      try appendValue(value)
      return try end()
    }
    try noteKey(key)
    try attempt { () throws(StorageError) in
      try closeBlock()
      try writeRecord(key, value)
    }
  }

  /// Takes over a block of another snapshot, as it is deflated there, with all its records, which have been checked.
  /// Returns false, and has done nothing, where they are better appended one by one: where nothing is to be deflated, or
  /// the block is small.
  func append(block deflated: RawSpan, records: RawSpan, count: Int) throws(LogStoreError) -> Bool {
    guard let blocks, deflated.byteCount < records.byteCount, !BlockBuilder.isSmall(records.byteCount),
      blocks.raw.count + records.byteCount <= SnapshotLayout.blockBytes
    else { return false }
    guard state == .writing, open == nil, header.state == 0 else { throw misuse() }
    guard self.count + UInt64(count) <= settings.records else { throw tooMany() }
    // What is gathered in front of it, and too little to be a block, is deflated together with it.
    let joins = !blocks.isEmpty && BlockBuilder.isSmall(blocks.raw.count)
    try attempt { () throws(StorageError) in
      if !joins { try closeBlock() }
      var position = 0
      for _ in 0..<count {
        let places = RecordFormat.checkedBlockRecord(records, at: position)
        let key = records.extracting(places.key)
        try keys.add(hash: hasher.hash(key), spool: spool)
        if joins { blocks.add(key, records.extracting(places.value)) }
        position = places.value.upperBound
      }
      if joins {
        try closeBlock()
      } else {
        try writeBlock(deflated, records: count, rawLength: records.byteCount, isInflated: true)
      }
    }
    return true
  }

  /// Begins a record whose value comes in pieces.
  func begin(key: RawSpan, valueLength: Int) throws(LogStoreError) {
    try check(key, valueLength)
    try noteKey(key)
    try attempt { () throws(StorageError) in
      try closeBlock()
      let record = LongRecord(key: key.array, valueLength: valueLength, offset: output.offset)
      record.start(output, settings.partBytes)
      open = record
    }
  }

  /// The next piece of the value.
  func appendValue(_ bytes: RawSpan) throws(LogStoreError) {
    guard state == .writing, let record = open, bytes.byteCount <= record.left else { throw misuse() }
    try attempt { () throws(StorageError) in try record.append(bytes, output, codec, settings.partBytes) }
  }

  /// Ends the record that `begin` began; its whole value must have come.
  func end() throws(LogStoreError) {
    guard state == .writing, let record = open, record.left == 0 else { throw misuse() }
    open = nil
    try attempt { () throws(StorageError) in
      let span = try record.end(output, codec)
      order.add(offset: record.offset, span: span)
      try spillIfMany()
    }
  }

  /// Writes a frame of an application's own state; the header says which state it is.
  func appendApplicationFrame(_ kind: FrameKind, _ payload: RawSpan) throws(LogStoreError) {
    guard state == .writing, kind.isApplication, header.state != 0 else { throw misuse() }
    guard payload.byteCount <= Limits.batchBytes - Limits.batchReserve else { throw tooLarge() }
    frames += 1
    try attempt { () throws(StorageError) in
      var position = 0
      while payload.byteCount - position > settings.partBytes {
        let piece = payload.extracting(position..<position + settings.partBytes)
        try writeFrame(FrameType(.part, first: position == 0, last: false), piece)
        position += settings.partBytes
      }
      try writeFrame(FrameType(kind, first: position == 0), payload.extracting(position..<payload.byteCount))
    }
  }

  /// Closes and removes the temporary files.
  func cancel() {
    guard state != .cancelled else { return }
    state = .cancelled
    removeSpool()
    output.close()
    // Nothing is left to tell it to: readers ignore the file, and the next writer removes it.
    do { try directory.remove(temporaryName) } catch {}
  }

  deinit {
    spool?.remove()
    output.close()
  }
}

extension SnapshotWriter {
  /// Records written, those in the block being gathered included.
  var count: UInt64 { keys.count }

  func removeSpool() {
    spool?.remove()
    spool = nil
  }

  /// Runs what writes; after a failure nothing more is written.
  @inline(__always)
  func attempt(_ body: () throws(StorageError) -> Void) throws(LogStoreError) {
    do throws(StorageError) {
      try body()
    } catch {
      state = .failed
      throw LogStoreError(error)
    }
  }

  private func noteKey(_ key: RawSpan) throws(LogStoreError) {
    let hash = hasher.hash(key)
    try attempt { () throws(StorageError) in try keys.add(hash: hash, spool: spool) }
  }

  private func check(_ key: RawSpan, _ valueLength: Int) throws(LogStoreError) {
    guard state == .writing, open == nil, header.state == 0 else { throw misuse() }
    guard key.byteCount >= 1, key.byteCount <= Limits.keyBytes else {
      throw LogStoreError(.invalidKey, "a key has 1 to 1024 bytes, not \(key.byteCount)")
    }
    guard valueLength >= 0, LongRecord.span(key.byteCount, valueLength, settings.partBytes) <= Limits.batchBytes else {
      throw tooLarge()
    }
    guard count < settings.records else { throw tooMany() }
  }

  private func tooMany() -> LogStoreError { LogStoreError(.tooLarge, "a page holds at most 2,147,483,647 records") }

  private func tooLarge() -> LogStoreError {
    LogStoreError(.tooLarge, "a record is at most 1 GiB, with what frames it; divide the value", path: directory.path)
  }

  private func misuse() -> LogStoreError {
    LogStoreError(.closed, "the snapshot's writer is not in a state for this call", path: temporaryName)
  }
}
