/// What a new journal begins with: the one way on after every irregularity (SPEC.md, section 8).
struct JournalStart {
  var predecessor: JournalHeader.Predecessor?
  /// The LSN at the predecessor's end.
  var baseLSN: UInt64
  var losses: [LossRecord] = []
  var carried: [Carried] = []
  /// Whether it ends what is in doubt: until the journal stands, what the predecessor has behind its end may come back.
  var endsDoubt = false
  /// Bytes to set aside before they are superseded.
  var quarantine: [QuarantineRange] = []

  /// Frames that must survive and lie behind the predecessor's end.
  enum Carried {
    /// Whole batches of a journal, all of which verify.
    case file(JournalFile, Range<UInt64>)
    /// Frames in memory, in front of each other without gaps, that a failed sync has left in doubt on the medium.
    case memory(ByteBuffer, Range<Int>)
  }
}

/// Builds a journal under its temporary name.
struct JournalBuilder {
  private let file: any StorageFile
  private let codec: FrameCodec
  private let buffer = ByteBuffer(capacity: 64 << 10)
  /// Where the buffer's first byte goes.
  private var origin: UInt64 = 0
  private(set) var operations: UInt64 = 0

  private static let flushBytes = 1 << 20

  init(_ file: any StorageFile, salt: UInt64) {
    self.file = file
    codec = FrameCodec(salt: salt)
    // The header comes last: it says how long the file is.
    unsafe buffer.extend(Limits.headerBytes).initializeMemory(as: UInt8.self, repeating: 0, count: Limits.headerBytes)
  }

  var length: UInt64 { origin + UInt64(buffer.count) }

  mutating func append(_ loss: LossRecord) throws(LogStoreError) {
    let frame = buffer.openFrame()
    loss.append(to: buffer)
    buffer.sealFrame(frame, FrameType(.loss), offset: origin + UInt64(frame), codec: codec)
    try flush(over: JournalBuilder.flushBytes)
  }

  mutating func append(_ carried: JournalStart.Carried) throws(LogStoreError) {
    switch carried {
    case .file(let journal, let range):
      let reader = journal.reader(limit: range.upperBound)
      var place = range.lowerBound
      while place < range.upperBound {
        let frame = try reader.frame(againAt: place)
        try unsafe append(frame.type, frame.payload)
        place = frame.end
      }
    case .memory(let bytes, let range):
      var place = range.lowerBound
      while place < range.upperBound {
        let frame = unsafe UnsafeRawPointer(bytes.base + place)
        let length = unsafe Int(frame.load(0, as: UInt32.self))
        let type = unsafe FrameType(rawValue: frame.load(8))
        try unsafe append(type, UnsafeRawBufferPointer(start: frame + Limits.frameOverhead, count: length))
        place += Limits.frameOverhead + length
      }
    }
  }

  private mutating func append(_ type: FrameType, _ payload: UnsafeRawBufferPointer) throws(LogStoreError) {
    guard type.kind.isOperation || type.kind == .part else { return }
    if type.kind.isOperation { operations += 1 }
    let frame = buffer.openFrame()
    unsafe buffer.append(payload)
    buffer.sealFrame(frame, type, offset: origin + UInt64(frame), codec: codec)
    try flush(over: JournalBuilder.flushBytes)
  }

  private mutating func flush(over limit: Int) throws(LogStoreError) {
    guard buffer.count > limit else { return }
    try write(at: origin)
    origin += UInt64(buffer.count)
    buffer.count = 0
  }

  private func write(at offset: UInt64) throws(LogStoreError) {
    try mapped { () throws(StorageError) in
      var written = 0
      try unsafe file.writeFully(buffer.bytes, at: offset, written: &written)
    }
  }

  /// Writes what is left, and the header.
  mutating func finish(_ header: JournalHeader) throws(LogStoreError) {
    let head = ByteBuffer(capacity: Limits.headerBytes)
    header.append(to: head)
    if origin == 0 {
      unsafe buffer.base.copyMemory(from: head.base, byteCount: head.count)
      return try write(at: 0)
    }
    try flush(over: 0)
    try mapped { () throws(StorageError) in
      var written = 0
      try unsafe file.writeFully(head.bytes, at: 0, written: &written)
    }
  }
}
