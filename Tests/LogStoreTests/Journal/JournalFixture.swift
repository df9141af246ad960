import LogStoreTesting
import Testing

@testable import LogStore

/// A journal put together frame by frame: every checksum is right, whatever the frames say.
struct JournalFixture {
  var header: JournalHeader
  private let body = ByteBuffer()

  static let id = PageID(high: 0x1111_2222_3333_4444, low: 0x8555_6666_7777_8888)
  static let directory = "/page"

  init(_ generation: UInt64 = 0, baseLSN: UInt64 = 0, after predecessor: JournalHeader.Predecessor? = nil) {
    header = JournalHeader(
      state: 0, id: JournalFixture.id, generation: generation, salt: 100 + generation, baseLSN: baseLSN,
      predecessor: predecessor, initialLength: UInt64(Limits.headerBytes), inode: 0, time: 1)
  }

  /// Where the next frame goes.
  var end: UInt64 { UInt64(Limits.headerBytes + body.count) }

  var name: String { PageFile.journal(header.generation).name }
  var path: String { JournalFixture.directory + "/" + name }

  var bytes: [UInt8] {
    let head = ByteBuffer()
    header.append(to: head)
    head.append(body, 0..<body.count)
    return head.lend(0..<head.count) { $0.array }
  }

  /// Adds a frame; returns where it stands.
  @discardableResult
  func add(_ kind: FrameKind, _ payload: [UInt8], first: Bool = true, last: Bool = true) -> UInt64 {
    let offset = end
    let frame = body.openFrame()
    payload.withByteSpan { body.append($0) }
    body.sealFrame(
      frame, FrameType(kind, first: first, last: last), offset: offset, codec: FrameCodec(salt: header.salt))
    return offset
  }

  @discardableResult
  func put(_ key: String, _ value: String = "v", first: Bool = true, last: Bool = true) -> UInt64 {
    add(.put, JournalFixture.put(key, value), first: first, last: last)
  }

  /// A mark: that many operations, all in front of `durableEnd` durable.
  @discardableResult
  func mark(_ lsn: UInt64, durableEnd: UInt64, closed: Bool = false) -> UInt64 {
    let offset = end
    Mark(lsn: lsn, durableEnd: durableEnd, time: 1, salt: header.salt, isClosed: closed)
      .append(to: body, offset: offset, codec: FrameCodec(salt: header.salt))
    return offset
  }

  @discardableResult
  func loss(_ loss: LossRecord) -> UInt64 {
    let payload = ByteBuffer()
    loss.append(to: payload)
    return add(.loss, payload.lend(0..<payload.count) { $0.array })
  }

  /// A loss of this journal's own bytes.
  func loss(of range: Range<UInt64>, lsn: UInt64, count: UInt64) -> LossRecord {
    LossRecord(
      generation: header.generation, salt: header.salt, start: range.lowerBound, end: range.upperBound, lsn: lsn,
      count: count)
  }

  static func put(_ key: String, _ value: String) -> [UInt8] {
    [UInt8(key.utf8.count), 0] + Array(key.utf8) + Array(value.utf8)
  }

  /// A disk that holds the journals, as one page.
  static func storage(_ journals: JournalFixture...) -> SimulatedStorage {
    let storage = SimulatedStorage(seed: 1)
    storage.makeDirectory(directory)
    for journal in journals { storage.place(journal.bytes, at: journal.path) }
    return storage
  }
}

extension Page {
  /// The fixtures' page, where nothing happens in the background.
  static func fixture(
    _ storage: SimulatedStorage, _ mode: OpenMode = .readWrite, _ change: (inout PageOptions) -> Void = { _ in }
  ) throws(LogStoreError) -> Page {
    var options = PageOptions()
    options.storage = storage
    options.compaction = .manual
    options.syncAfter = .seconds(100_000)
    change(&options)
    return try Page(path: JournalFixture.directory, mode: mode, options: options)
  }

  func keys() throws -> [String] { try view().records().map { String(decoding: $0.key, as: UTF8.self) } }
}
