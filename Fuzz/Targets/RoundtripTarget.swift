import LogStoreTesting

@testable import LogStore

extension FuzzTarget {
  /// Whatever could be read is written again, elsewhere and under another salt, and read as the same. The first byte says
  /// what the others are: a header, what stands in a frame of the engine's own, a journal, a snapshot, lines for `logctl`.
  static let roundtrip = FuzzTarget(name: "roundtrip") { bytes in
    var input = InputBytes(bytes)
    switch input.byte() % 6 {
    case 0: try journalHeader(input.rest())
    case 1: try snapshotHeader(input.rest())
    case 2: try payloads(input.rest())
    case 3: try JournalCopy(input.rest()).check()
    case 4:
      let compresses = input.byte() & 1 != 0
      try SnapshotCopy(input.rest()).check(compresses: compresses)
    default: try importedLines(input.rest())
    }
  }

  // MARK: Headers

  private static func journalHeader(_ bytes: [UInt8]) throws {
    guard let header = parsedJournalHeader(Resealing.reseal(bytes, isSnapshot: false)) else { return }
    let buffer = ByteBuffer()
    header.append(to: buffer)
    let again = parsedJournalHeader(buffer.array)
    try demand(again == header, "\(header) is written and then read as \(String(describing: again))")
  }

  private static func parsedJournalHeader(_ bytes: [UInt8]) -> JournalHeader? {
    guard bytes.count >= Limits.headerBytes else { return nil }
    return unsafe bytes.withUnsafeBytes { bytes in
      guard unsafe FileHeader.judge(bytes, magic: FileHeader.journalMagic) == .good else { return nil }
      return unsafe JournalHeader(bytes, generation: bytes.baseAddress!.load(40))
    }
  }

  private static func snapshotHeader(_ bytes: [UInt8]) throws {
    guard let header = parsedSnapshotHeader(Resealing.reseal(bytes, isSnapshot: true)) else { return }
    let buffer = ByteBuffer()
    header.append(to: buffer)
    let again = parsedSnapshotHeader(buffer.array)
    try demand(again == header, "\(header) is written and then read as \(String(describing: again))")
  }

  private static func parsedSnapshotHeader(_ bytes: [UInt8]) -> SnapshotHeader? {
    guard bytes.count >= Limits.headerBytes else { return nil }
    let generation = unsafe bytes.span.bytes.u64(40)
    guard case .header(let header) = unsafe SnapshotHeader.decode(bytes.span.bytes, generation: generation) else {
      return nil
    }
    return header
  }

  // MARK: What stands in the engine's own frames

  private static func payloads(_ bytes: [UInt8]) throws {
    let buffer = ByteBuffer()
    if let mark = unsafe bytes.withUnsafeBytes({ unsafe Mark($0) }) {
      // Behind whatever it names, as it has to be.
      mark.append(to: buffer, offset: mark.durableEnd, codec: FrameCodec(salt: mark.salt))
      let again = unsafe Mark(UnsafeRawBufferPointer(rebasing: buffer.bytes[Limits.frameOverhead...]))
      try demand(again == mark, "\(mark) is written and then read as \(String(describing: again))")
    }
    if let loss = unsafe bytes.withUnsafeBytes({ unsafe LossRecord($0) }) {
      loss.append(to: buffer.emptied)
      try demand(buffer.array == bytes, "\(loss) is written otherwise than it was read")
    }
    if bytes.count == SnapshotFooter.payloadBytes {
      let footer = unsafe SnapshotFooter(decoding: bytes.span.bytes)
      footer.append(to: buffer.emptied)
      let again = unsafe SnapshotFooter(decoding: buffer.array.span.bytes)
      try demand(again == footer, "\(footer) is written and then read as \(again)")
    }
  }
}

/// A journal, whatever it holds, written again.
private struct JournalCopy {
  private let storage = SimulatedStorage(seed: 1)
  private let generation: UInt64

  init(_ bytes: [UInt8]) {
    generation = bytes.count >= 48 ? unsafe bytes.span.bytes.u64(40) % 1000 : 0
    storage.makeDirectory("/page")
    place(Resealing.reseal(bytes, isSnapshot: false))
  }

  private func place(_ bytes: [UInt8]) { storage.place(bytes, at: "/page/" + PageFile.journal(generation).name) }

  func check() throws {
    var first = Contents()
    let error = try refusal { if let contents = try read() { first = contents } }
    try demand(error?.code ?? .newerVersion == .newerVersion, "reading fails with \(String(describing: error))")
    guard let header = first.header else { return }
    place(try written(first, header))
    let second = try read()
    try demand(second?.header == header, "the header differs")
    try demand(
      second?.items.map(\.meaning) == first.items.map(\.meaning),
      "\(first.items.map(\.meaning)) is read again as \(String(describing: second?.items.map(\.meaning)))")
  }

  private struct Contents {
    var header: JournalHeader?
    var items: [JournalItem] = []
  }

  private func read() throws(LogStoreError) -> Contents? {
    let directory = try mapped { () throws(StorageError) in try storage.openDirectory("/page", create: false) }
    guard let journal = try PageFiles(directory, cacheBytes: 0).journal(generation).file else { return nil }
    var walk = JournalWalk(journal.reader(limit: journal.status.size))
    var sink = JournalItems(salt: journal.header.salt)
    try walk.run(&sink)
    return Contents(header: journal.header, items: sink.items)
  }

  private func written(_ contents: Contents, _ header: JournalHeader) throws -> [UInt8] {
    let codec = FrameCodec(salt: header.salt)
    let buffer = ByteBuffer()
    header.append(to: buffer)
    for item in contents.items {
      switch item {
      case .batch(_, let batch): batch.unsealed.seal(into: buffer, origin: 0, codec: codec)
      case .mark(let mark): mark.append(to: buffer, offset: UInt64(buffer.count), codec: codec)
      case .loss(let loss):
        let frame = buffer.openFrame()
        loss.append(to: buffer)
        buffer.sealFrame(frame, FrameType(.loss), offset: UInt64(frame), codec: codec)
      }
    }
    return buffer.array
  }
}

private enum JournalItem {
  case batch([LoggedOperation], WriteBatch)
  case mark(Mark)
  case loss(LossRecord)

  enum Meaning: Equatable {
    case batch([LoggedOperation])
    case mark(Mark)
    case loss(LossRecord)
  }

  var meaning: Meaning {
    switch self {
    case .batch(let operations, _): .batch(operations)
    case .mark(let mark): .mark(mark)
    case .loss(let loss): .loss(loss)
    }
  }
}

/// Gathers what a journal holds, each batch as it is shown and as it is carried into another journal.
private struct JournalItems: JournalSink {
  let salt: UInt64
  private(set) var items: [JournalItem] = []
  private var shown: BatchSink
  private var carried = WriteBatch()
  private let parts = ByteBuffer()
  /// Bytes that what was dropped has taken: behind a gap nothing stands where it stood.
  private var written = UInt64(Limits.headerBytes)

  init(salt: UInt64) {
    self.salt = salt
    shown = BatchSink(salt: salt, after: 0)
  }

  mutating func take(_ frame: JournalFrame) throws(LogStoreError) {
    try shown.take(frame)
    if frame.kind == .part { return unsafe parts.append(frame.payload) }
    try carried.add(frame, behind: parts)
    parts.count = 0
  }

  mutating func commit(_ batch: ReplayedBatch) throws(LogStoreError) -> Bool {
    // As if it were the first: what is delivered begins behind LSN 0.
    _ = try shown.commit(ReplayedBatch(start: 0, end: 0, baseLSN: 0, operations: max(batch.operations, 1)))
    written += UInt64(carried.byteCount)
    items.append(.batch(shown.batches.last?.operations ?? [], carried))
    carried = WriteBatch()
    return true
  }

  mutating func abandon() {
    shown.abandon()
    carried = WriteBatch()
    parts.count = 0
  }

  mutating func mark(_ mark: Mark, _ frame: JournalFrame) {
    // In front of what it names there may now be less.
    var mark = mark
    mark.durableEnd = min(mark.durableEnd, written)
    written += UInt64(Mark.frameBytes)
    items.append(.mark(mark))
  }

  mutating func loss(_ frame: JournalFrame) {
    guard let loss = frame.loss else { return }
    written += UInt64(Limits.frameOverhead + LossRecord.payloadBytes)
    items.append(.loss(loss))
  }
}

/// A snapshot that verifies, written again.
private struct SnapshotCopy {
  private let storage = SimulatedStorage(seed: 1)
  private let generation: UInt64

  init(_ bytes: [UInt8]) {
    generation = bytes.count >= 48 ? unsafe bytes.span.bytes.u64(40) : 0
    storage.makeDirectory("/page")
    storage.place(Resealing.reseal(bytes, isSnapshot: true), at: "/page/first")
  }

  private struct Contents: Equatable {
    var header: SnapshotHeader
    var losses: [LossRecord]
    var records: [Row] = []
    var frames: [Row] = []
  }

  func check(compresses: Bool) throws {
    var first: Contents?
    let refused = try refusal { first = try read("first") }
    guard refused == nil, let first else { return }
    try write(first, compresses)
    var second = try read("second.tmp")
    second?.header.salt = first.header.salt
    try demand(second == first, "\(first) is written and then read as \(String(describing: second))")
  }

  /// Nil where it does not verify.
  private func read(_ name: String) throws -> Contents? {
    let file = try storage.openDirectory("/page", create: false).open(name, .read)
    let reader = try SnapshotReader(
      file: file, name: name, path: "/page/" + name, generation: generation, cacheBytes: 8 << 10)
    guard try reader.verifyAll().isEmpty else { return nil }
    var contents = Contents(header: reader.header, losses: try reader.losses())
    if reader.header.state == 0 {
      try reader.forEach(in: 0..<reader.count) { key, value in
        contents.records.append(Row(key: key.array, value: value.array))
        return true
      }
    } else {
      try reader.applicationFrames { kind, payload in
        contents.frames.append(Row(key: [kind.rawValue], value: payload.array))
      }
    }
    return contents
  }

  private func write(_ contents: Contents, _ compresses: Bool) throws {
    var header = contents.header
    header.salt = ~header.salt
    var settings = SnapshotWriter.Settings()
    settings.compression = compresses ? .deflate : .none
    settings.partBytes = 1500
    let writer = try SnapshotWriter(
      directory: try storage.openDirectory("/page", create: false), name: "second", header: header,
      losses: contents.losses, settings: settings)
    for row in contents.records { try unsafe writer.append(key: row.key.span.bytes, value: row.value.span.bytes) }
    for row in contents.frames {
      try unsafe writer.appendApplicationFrame(FrameKind(rawValue: row.key[0]), row.value.span.bytes)
    }
    _ = try writer.finish()
  }
}

extension ByteBuffer {
  fileprivate var array: [UInt8] { unsafe Array(bytes) }

  fileprivate var emptied: ByteBuffer {
    count = 0
    return self
  }
}
