/// What an earlier recovery dropped for good: replay skips exactly these bytes from then on.
struct LossRecord: Hashable, Sendable {
  static let payloadBytes = 48

  /// The journal the bytes are of.
  var generation: UInt64
  var salt: UInt64
  /// The bytes dropped.
  var start: UInt64
  var end: UInt64
  /// The LSN of the first operation dropped, and how many there were at most.
  var lsn: UInt64
  var count: UInt64

  func append(to buffer: ByteBuffer) {
    for field in [generation, salt, start, end, lsn, count] { buffer.append(field) }
  }

  /// Nil where the payload has not the form of one.
  init?(_ payload: UnsafeRawBufferPointer) {
    guard payload.count == LossRecord.payloadBytes, let base = payload.baseAddress else { return nil }
    unsafe generation = base.load(0)
    unsafe salt = base.load(8)
    unsafe start = base.load(16)
    unsafe end = base.load(24)
    unsafe lsn = base.load(32)
    unsafe count = base.load(40)
    guard start >= UInt64(Limits.headerBytes), start < end, lsn <= Limits.lsn, count <= Limits.lsn else { return nil }
  }

  init(generation: UInt64, salt: UInt64, start: UInt64, end: UInt64, lsn: UInt64, count: UInt64) {
    self.generation = generation
    self.salt = salt
    self.start = start
    self.end = end
    self.lsn = lsn
    self.count = count
  }
}
