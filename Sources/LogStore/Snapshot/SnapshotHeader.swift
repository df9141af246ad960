/// The first 128 bytes of a snapshot.
struct SnapshotHeader: Hashable, Sendable {
  var id: PageID
  var generation: UInt64
  /// Random for each file; every frame's checksum begins with it.
  var salt: UInt64
  /// Operations that the state holds.
  var lsn: UInt64
  /// Salt of the journal of the same generation.
  var journalSalt: UInt64
  /// Nanoseconds since 1970.
  var time: Int64
  /// 0: the record table; otherwise the application's own state.
  var state: UInt32 = 0

  func append(to buffer: ByteBuffer) {
    let start = buffer.count
    FileHeader.begin(buffer, magic: FileHeader.snapshotMagic, state: state, id: id, generation: generation)
    for field in [salt, lsn, journalSalt] { buffer.append(field) }
    buffer.append(time)
    FileHeader.end(buffer, start: start)
  }

  /// What the first bytes of a file turned out to be.
  enum Decoded: Equatable, Sendable {
    case header(SnapshotHeader)
    /// The magic is not a snapshot's: another program's file, or damage to the magic.
    case foreign
    /// A snapshot's header that does not verify, and what is wrong with it.
    case damaged(String)
    /// Written by a version that knows more.
    case newer
  }

  /// `generation` is the one in the file's name.
  static func decode(_ bytes: RawSpan, generation: UInt64) -> Decoded {
    switch unsafe bytes.withUnsafeBytes({ unsafe FileHeader.judge($0, magic: FileHeader.snapshotMagic) }) {
    case .foreign: return .foreign
    case .newer: return .newer
    case .damaged: return .damaged("the header does not match its checksum")
    case .good: break
    }
    guard bytes.u64(40) == generation else {
      return .damaged("the header is that of generation \(bytes.u64(40)), not of the file's name")
    }
    guard bytes.u64(56) <= Limits.lsn else { return .damaged("the header gives an impossible LSN") }
    return .header(
      SnapshotHeader(
        id: PageID(high: bytes.u64(24).byteSwapped, low: bytes.u64(32).byteSwapped), generation: generation,
        salt: bytes.u64(48), lsn: bytes.u64(56), journalSalt: bytes.u64(64),
        time: Int64(bitPattern: bytes.u64(72)), state: bytes.u32(20)))
  }
}
