/// The frames of a batch as they will stand in the journal, but for checksums and the bits of first and last, which
/// depend on where they come to stand.
final class BatchFrames {
  let buffer: ByteBuffer
  private(set) var operations = 0
  /// Whether the frames are the application's own (kinds 32 to 63), or the table's.
  private(set) var isApplication = false
  private let partBytes: Int

  /// `partBytes` bounds a frame's payload; only tests lower it.
  init(capacity: Int = 256, partBytes: Int = Limits.payloadBytes) {
    buffer = ByteBuffer(capacity: capacity)
    self.partBytes = partBytes
  }

  func copy() -> BatchFrames {
    let other = BatchFrames(capacity: buffer.count, partBytes: partBytes)
    unsafe other.buffer.append(buffer.bytes)
    other.operations = operations
    other.isApplication = isApplication
    return other
  }

  func removeAll() {
    buffer.reuse(keeping: 1 << 20)
    operations = 0
    isApplication = false
  }

  /// A put, which goes behind all others.
  @inline(__always)
  func put(_ key: RawSpan, _ value: RawSpan) throws(LogStoreError) {
    let names = 2 &+ key.byteCount
    // Clearly within all limits, as most are: there is nothing to divide.
    if key.byteCount >= 1, key.byteCount <= Limits.keyBytes, value.byteCount <= partBytes &- names,
      buffer.count &+ partBytes &+ Limits.batchReserve &+ 2 &* Limits.frameOverhead <= Limits.batchBytes
    {
      let start = buffer.appendPut(value, for: key)
      unsafe BatchFrames.open(buffer.base + start, .put, names &+ value.byteCount)
      operations &+= 1
      return
    }
    try unsafe key.withUnsafeBytes { (key) throws(LogStoreError) in
      try unsafe value.withUnsafeBytes { (value) throws(LogStoreError) in try unsafe put(key, before: nil, value) }
    }
  }

  /// A put; in front of `before` where that is not nil. With `asRead`, `before` may be empty, as a journal may have it:
  /// a key that is always absent.
  func put(
    _ key: UnsafeRawBufferPointer, before: UnsafeRawBufferPointer?, _ value: UnsafeRawBufferPointer,
    asRead: Bool = false
  ) throws(LogStoreError) {
    try BatchFrames.check(key: key.count)
    if let before = unsafe before, !asRead || before.count > 0 { try BatchFrames.check(key: before.count) }
    let names = unsafe before.map { 4 + key.count + $0.count } ?? 2 + key.count
    try checkRoom(names, value.count)
    let rest = unsafe parts(value, beside: names)
    open(unsafe before == nil ? .put : .putBefore, names + rest.count)
    buffer.append(UInt16(truncatingIfNeeded: key.count))
    if let before = unsafe before { buffer.append(UInt16(truncatingIfNeeded: before.count)) }
    unsafe buffer.append(key)
    if let before = unsafe before { unsafe buffer.append(before) }
    unsafe buffer.append(rest)
    operations &+= 1
  }

  func remove(_ key: UnsafeRawBufferPointer) throws(LogStoreError) {
    try BatchFrames.check(key: key.count)
    try checkRoom(key.count, 0)
    open(.remove, key.count)
    unsafe buffer.append(key)
    operations &+= 1
  }

  func move(_ key: UnsafeRawBufferPointer, before: UnsafeRawBufferPointer?) throws(LogStoreError) {
    try BatchFrames.check(key: key.count)
    if let before = unsafe before { try BatchFrames.check(key: before.count) }
    let anchor = unsafe before ?? UnsafeRawBufferPointer(start: nil, count: 0)
    try checkRoom(4 + key.count + anchor.count, 0)
    open(.move, 4 + key.count + anchor.count)
    buffer.append(UInt16(truncatingIfNeeded: key.count))
    buffer.append(UInt16(truncatingIfNeeded: anchor.count))
    unsafe buffer.append(key)
    unsafe buffer.append(anchor)
    operations &+= 1
  }

  func clear() throws(LogStoreError) {
    try checkRoom(0, 0)
    open(.clear, 0)
    operations &+= 1
  }

  func application(_ kind: FrameKind, _ payload: UnsafeRawBufferPointer) throws(LogStoreError) {
    guard kind.isApplication else {
      throw LogStoreError(.wrongState, "an application's frame has a kind from 32 to 63, not \(kind.rawValue)")
    }
    try checkRoom(0, payload.count)
    let rest = unsafe parts(payload, beside: 0)
    open(kind, rest.count)
    unsafe buffer.append(rest)
    operations &+= 1
    isApplication = true
  }

  func append(_ other: BatchFrames) throws(LogStoreError) {
    try checkRoom(other.buffer.count, 0)
    unsafe buffer.append(other.buffer.bytes)
    operations += other.operations
    isApplication = isApplication || other.isApplication
  }

  static func check(key length: Int) throws(LogStoreError) {
    guard length >= 1, length <= Limits.keyBytes else {
      throw LogStoreError(.invalidKey, "a key has 1 to \(Limits.keyBytes) bytes, not \(length)")
    }
  }

  private func checkRoom(_ names: Int, _ value: Int) throws(LogStoreError) {
    let frames = (names + value) / partBytes + 1
    let (total, overflow) = buffer.count.addingReportingOverflow(names + value + frames * Limits.frameOverhead)
    guard !overflow, total + Limits.batchReserve <= Limits.batchBytes else {
      throw LogStoreError(
        .tooLarge,
        "a batch takes at most \(Limits.batchBytes - Limits.batchReserve) bytes; this operation would make it longer; use smaller values or batches"
      )
    }
  }

  /// Writes all of `bytes` but what fits into one frame beside `names` bytes as parts; returns the rest.
  private func parts(_ bytes: UnsafeRawBufferPointer, beside names: Int) -> UnsafeRawBufferPointer {
    var rest = unsafe bytes
    while rest.count + names > partBytes {
      let part = unsafe UnsafeRawBufferPointer(rebasing: rest[..<min(partBytes, rest.count)])
      open(.part, part.count)
      unsafe buffer.append(part)
      unsafe rest = UnsafeRawBufferPointer(rebasing: rest[part.count...])
    }
    return unsafe rest
  }

  @inline(__always)
  private func open(_ kind: FrameKind, _ length: Int) {
    unsafe BatchFrames.open(buffer.extend(Limits.frameOverhead), kind, length)
  }

  @inline(__always)
  private static func open(_ frame: UnsafeMutableRawPointer, _ kind: FrameKind, _ length: Int) {
    unsafe frame.store(UInt32(truncatingIfNeeded: length))
    unsafe frame.store(UInt32(0), at: 4)
    unsafe frame.store(kind.rawValue, at: 8)
  }

  /// What is copied at once before it is sealed: it is still in the processor's cache then.
  private static let pieceBytes = 32 << 10

  /// Copies the frames behind `target`'s end and seals them for a place in a file. `target`'s byte 0 stands at `origin`.
  @inline(__always)
  func seal(into target: ByteBuffer, origin: UInt64, codec: FrameCodec) {
    let offset = origin &+ UInt64(target.count)
    let end = buffer.count
    let copies = unsafe target.extend(end)
    let frames = unsafe UnsafeRawPointer(buffer.base)
    var (place, copied) = (0, 0)
    while place < end {
      let length = unsafe Int(frames.load(place, as: UInt32.self))
      let kind = unsafe FrameKind(rawValue: frames.load(place &+ 8))
      let next = place &+ length &+ Limits.frameOverhead
      if next > copied {
        let upTo = min(end, max(next, place &+ BatchFrames.pieceBytes))
        unsafe (copies + copied).copyMemory(from: frames + copied, byteCount: upTo &- copied)
        copied = upTo
      }
      let type = FrameType(kind, first: place == 0, last: next == end)
      unsafe codec.seal(copies + place, offset: offset &+ UInt64(place), length: length, type: type)
      place = next
    }
  }
}

extension ByteBuffer {
  /// Appends the frame of a put, all but the nine bytes that lead it. Returns where it begins.
  @inline(__always)
  func appendPut(_ value: RawSpan, for key: RawSpan) -> Int {
    let start = count
    var place = unsafe extend(Limits.frameOverhead &+ 2 &+ key.byteCount &+ value.byteCount) + Limits.frameOverhead
    unsafe place.store(UInt16(truncatingIfNeeded: key.byteCount))
    unsafe place += 2
    unsafe key.withUnsafeBytes { unsafe place.copy($0) }
    unsafe place += key.byteCount
    unsafe value.withUnsafeBytes { unsafe place.copy($0) }
    return start
  }
}

extension UnsafeMutableRawPointer {
  @inline(__always)
  fileprivate func copy(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress else { return }
    unsafe copyMemory(from: source, byteCount: bytes.count)
  }
}
