/// The first 128 bytes of a journal.
struct JournalHeader: Equatable, Sendable {
  var state: UInt32
  var id: PageID
  var generation: UInt64
  var salt: UInt64
  var baseLSN: UInt64
  var predecessor: Predecessor?
  /// The length that was durable before the file got its name.
  var initialLength: UInt64
  var inode: UInt64
  var time: Int64
  /// Whether the header was lost and this one is put together from what others say of it.
  var isRebuilt = false

  /// What a journal follows.
  struct Predecessor: Equatable, Sendable {
    var generation: UInt64
    var salt: UInt64
    /// Where its log ends; 0: the journal follows the snapshot of that generation; nil: unknown, the header is rebuilt.
    var end: UInt64?
  }

  /// Whether the journal goes on behind bytes of `other`, or behind its snapshot.
  func follows(_ other: JournalHeader) -> Bool {
    predecessor?.generation == other.generation && predecessor?.salt == other.salt
  }

  private static let none = UInt64.max

  /// Appends the header's 128 bytes.
  func append(to buffer: ByteBuffer) {
    let start = buffer.count
    FileHeader.begin(buffer, magic: FileHeader.journalMagic, state: state, id: id, generation: generation)
    buffer.append(salt)
    buffer.append(baseLSN)
    buffer.append(predecessor?.generation ?? JournalHeader.none)
    buffer.append(predecessor?.salt ?? 0)
    buffer.append(predecessor?.end ?? 0)
    buffer.append(initialLength)
    buffer.append(inode)
    buffer.append(time)
    FileHeader.end(buffer, start: start)
  }

  /// Reads a header that `FileHeader.judge` found good; nil where its fields contradict each other or the name.
  init?(_ bytes: UnsafeRawBufferPointer, generation expected: UInt64) {
    guard bytes.count >= Limits.headerBytes, let base = bytes.baseAddress else { return nil }
    unsafe state = base.load(20)
    unsafe id = FileHeader.id(base)
    unsafe generation = base.load(40)
    unsafe salt = base.load(48)
    unsafe baseLSN = base.load(56)
    let previous: UInt64 = unsafe base.load(64)
    if previous != JournalHeader.none {
      unsafe predecessor = Predecessor(generation: previous, salt: base.load(72), end: base.load(80))
      guard previous < generation else { return nil }
    }
    unsafe initialLength = base.load(88)
    unsafe inode = base.load(96)
    unsafe time = base.load(104)
    guard generation == expected, initialLength >= UInt64(Limits.headerBytes), baseLSN <= Limits.lsn else { return nil }
    if let end = predecessor?.end, end != 0, end < UInt64(Limits.headerBytes) { return nil }
  }

  init(
    state: UInt32, id: PageID, generation: UInt64, salt: UInt64, baseLSN: UInt64, predecessor: Predecessor?,
    initialLength: UInt64, inode: UInt64, time: Int64, isRebuilt: Bool = false
  ) {
    self.state = state
    self.id = id
    self.generation = generation
    self.salt = salt
    self.baseLSN = baseLSN
    self.predecessor = predecessor
    self.initialLength = initialLength
    self.inode = inode
    self.time = time
    self.isRebuilt = isRebuilt
  }
}
