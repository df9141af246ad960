/// The engine's own note in a journal: what was durable when it was written, and when that was.
struct Mark: Equatable, Sendable {
  static let payloadBytes = 33
  static let frameBytes = payloadBytes + Limits.frameOverhead

  /// Operations before the mark, for the life of the page.
  var lsn: UInt64
  /// Everything in front of this offset was durable.
  var durableEnd: UInt64
  /// Nanoseconds since 1970.
  var time: Int64
  /// The journal's salt, repeated so that a lost header can be rebuilt.
  var salt: UInt64
  var isClosed: Bool

  func append(to buffer: ByteBuffer, offset: UInt64, codec: FrameCodec) {
    let frame = buffer.openFrame()
    buffer.append(lsn)
    buffer.append(durableEnd)
    buffer.append(time)
    buffer.append(salt)
    buffer.append(UInt8(isClosed ? 1 : 0))
    buffer.sealFrame(frame, FrameType(.mark), offset: offset, codec: codec)
  }

  /// Reads a payload; nil where it has not the form of a mark.
  init?(_ payload: UnsafeRawBufferPointer) {
    guard payload.count == Mark.payloadBytes, let base = payload.baseAddress else { return nil }
    unsafe lsn = base.load(0)
    unsafe durableEnd = base.load(8)
    unsafe time = base.load(16)
    unsafe salt = base.load(24)
    let flags: UInt8 = unsafe base.load(32)
    isClosed = flags & 1 != 0
    guard lsn <= Limits.lsn else { return nil }
  }

  init(lsn: UInt64, durableEnd: UInt64, time: Int64, salt: UInt64, isClosed: Bool) {
    self.lsn = lsn
    self.durableEnd = durableEnd
    self.time = time
    self.salt = salt
    self.isClosed = isClosed
  }
}
