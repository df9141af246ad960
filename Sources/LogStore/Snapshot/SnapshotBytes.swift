/// The places where this floor meets memory by address; everything else works on spans and buffers.
///
/// Safety: a `ByteBuffer` owns `count` initialised bytes at `base`. Each function below checks its range against that
/// before it makes a pointer of it (a trap, not a stray access: what comes out of files was checked by the caller, this
/// is the second line), and no pointer or span outlives the call that it is made for. Integer loads are from spans,
/// which check their own bounds, and every bit pattern is an integer.
extension RawSpan {
  @inline(__always)
  func u8(_ offset: Int) -> UInt8 { unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self) }

  @inline(__always)
  func u16(_ offset: Int) -> UInt16 {
    UInt16(littleEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt16.self))
  }

  @inline(__always)
  func u32(_ offset: Int) -> UInt32 {
    UInt32(littleEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }

  @inline(__always)
  func u64(_ offset: Int) -> UInt64 {
    UInt64(littleEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  /// Where `number` first stands among the numbers of four bytes at `start ..< end`; nil if it does not.
  @inline(__always)
  func place(of number: UInt32, from start: Int, upTo end: Int) -> Int? {
    precondition(start >= 0 && end >= 0 && end <= byteCount / 4)
    var place = start
    let wanted = SIMD16<UInt32>(repeating: number.littleEndian)
    while place &+ 16 <= end {
      let numbers = unsafe unsafeLoadUnaligned(fromByteOffset: place &* 4, as: SIMD16<UInt32>.self)
      if any(numbers .== wanted) { break }
      place &+= 16
    }
    while place < end {
      if u32(place &* 4) == number { return place }
      place &+= 1
    }
    return nil
  }

  /// Where `number` first stands among the numbers of two bytes from `start` on; nil if it does not.
  @inline(__always)
  func place(of number: UInt16, from start: Int) -> Int? {
    precondition(start >= 0)
    let end = byteCount / 2
    var place = start
    let wanted = SIMD16<UInt16>(repeating: number.littleEndian)
    while place &+ 16 <= end {
      let numbers = unsafe unsafeLoadUnaligned(fromByteOffset: place &* 2, as: SIMD16<UInt16>.self)
      if any(numbers .== wanted) { break }
      place &+= 16
    }
    while place < end {
      if u16(place &* 2) == number { return place }
      place &+= 1
    }
    return nil
  }

  /// A copy of the bytes.
  var array: [UInt8] { unsafe withUnsafeBytes { unsafe [UInt8]($0) } }
}

extension LossRecord {
  init?(decoding payload: RawSpan) {
    guard let loss = unsafe payload.withUnsafeBytes({ unsafe LossRecord($0) }) else { return nil }
    self = loss
  }
}

extension ByteBuffer {
  @inline(__always)
  func append(_ span: RawSpan) {
    unsafe span.withUnsafeBytes { unsafe append($0) }
  }

  /// Lends `range` of the bytes; the buffer must not change during the call.
  @inline(__always)
  func lend<Result, Failure: Error>(
    _ range: Range<Int>, _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    precondition(range.lowerBound >= 0 && range.upperBound <= count)
    let bytes = unsafe UnsafeRawBufferPointer(start: base + range.lowerBound, count: range.count)
    return try unsafe body(bytes.bytes)
  }

  /// Lends two ranges of the bytes, a record's key and value.
  @inline(__always)
  func lend<Result, Failure: Error>(
    _ key: Range<Int>, _ value: Range<Int>, _ body: (RawSpan, RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    precondition(key.lowerBound >= 0 && key.upperBound <= count && value.lowerBound >= 0 && value.upperBound <= count)
    let first = unsafe UnsafeRawBufferPointer(start: base + key.lowerBound, count: key.count)
    let second = unsafe UnsafeRawBufferPointer(start: base + value.lowerBound, count: value.count)
    return try unsafe body(first.bytes, second.bytes)
  }

  /// Takes the bytes of `range` out; what stands behind moves up.
  func close(_ range: Range<Int>) {
    precondition(range.lowerBound >= 0 && range.upperBound <= count)
    let rest = count - range.upperBound
    unsafe (base + range.lowerBound).copyMemory(from: base + range.upperBound, byteCount: rest)
    count -= range.count
  }

  func append(_ other: ByteBuffer, _ range: Range<Int>) {
    precondition(range.lowerBound >= 0 && range.upperBound <= other.count)
    unsafe append(UnsafeRawBufferPointer(start: other.base + range.lowerBound, count: range.count))
  }

  /// The checksum of the bytes in `range`, continuing from `seed`.
  func checksum(_ seed: UInt32, _ range: Range<Int>) -> UInt32 {
    precondition(range.lowerBound >= 0 && range.upperBound <= count)
    return unsafe Checksum.update(seed, UnsafeRawBufferPointer(start: base + range.lowerBound, count: range.count))
  }
}

extension FrameWindow {
  /// Calls `body` with the records that verify one behind the other from `offset` on, each whole in one frame, as far as
  /// they are in memory, until it returns false. Returns the end of the last that it was called with.
  ///
  /// What most of a snapshot is, without a call or a count of references a frame. Whatever else stands there, `frame(at:)`
  /// has to say what it is.
  ///
  /// Safety: the buffer, which lives until this returns, does not change while `body` runs, since only
  /// this window's owner could ask for more.
  @inline(__always)
  func forEachRecord<Failure: Error>(
    from offset: UInt64, limit: UInt64,
    _ body: (_ end: UInt64, _ key: RawSpan, _ value: RawSpan) throws(Failure) -> Bool
  ) throws(Failure) -> UInt64 {
    guard offset >= start, offset < limit, limit <= source.size, offset - start < UInt64(buffer.count) else {
      return offset
    }
    let codec = source.codec
    let first = Int(offset - start)
    let available = Int(min(UInt64(buffer.count - first), limit - offset))
    let memory = unsafe buffer.base + first
    defer { withExtendedLifetime(buffer) {} }
    var position = 0
    while position < available {
      let check = unsafe codec.check(
        memory + position, available: available &- position, offset: offset &+ UInt64(position))
      guard case .good(FrameType.wholeRecord, let length) = check else { break }
      let start = position &+ Limits.frameOverhead
      let payload = unsafe UnsafeRawBufferPointer(start: memory + start, count: length).bytes
      guard let places = RecordFormat.record(payload, at: 0) else { break }
      position = start &+ length
      let goesOn = try body(
        offset &+ UInt64(position), payload.extracting(places.key), payload.extracting(places.value))
      if !goesOn { break }
    }
    return offset &+ UInt64(position)
  }
}

extension FrameCodec {
  /// Checks the frame that starts at `position` of the buffer and at `offset` of the file; no more than `available`
  /// bytes from there on belong to it.
  @inline(__always)
  func check(_ buffer: ByteBuffer, _ position: Int, available: Int, offset: UInt64) -> FrameCheck {
    precondition(position >= 0 && available >= 0 && available <= buffer.count &- position)
    return unsafe check(buffer.base + position, available: available, offset: offset)
  }

  /// Checks the frame that `bytes` begin with, and that starts at `offset` of the file.
  @inline(__always)
  func check(_ bytes: RawSpan, offset: UInt64) -> FrameCheck {
    unsafe bytes.withUnsafeBytes { memory in
      guard let base = memory.baseAddress else { return .needs(Limits.frameOverhead) }
      return unsafe check(base, available: memory.count, offset: offset)
    }
  }

  /// Checks the frame that starts at `position` of `bytes` and at `offset` of the file.
  @inline(__always)
  func check(_ bytes: [UInt8], _ position: Int = 0, offset: UInt64) -> FrameCheck {
    precondition(position >= 0 && position <= bytes.count)
    return unsafe check(in: bytes, position, available: bytes.count &- position, offset: offset)
  }

  @inline(__always)
  private func check(in memory: UnsafeRawPointer, _ position: Int, available: Int, offset: UInt64) -> FrameCheck {
    unsafe check(memory + position, available: available, offset: offset)
  }
}

extension SnapshotSource {
  /// Lends `count` bytes of the file in memory that lasts as long as the call.
  @inline(__always)
  func lend<Result>(
    at offset: UInt64, count: Int, _ body: (RawSpan) -> Result
  ) throws(LogStoreError) -> Result {
    try unsafe withUnsafeTemporaryAllocation(byteCount: count, alignment: 16) { (memory) throws(LogStoreError) in
      try unsafe read(into: memory, at: offset)
      return unsafe body(UnsafeRawBufferPointer(memory).bytes)
    }
  }

  private func read(into memory: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(LogStoreError) {
    let done: Int
    do { done = try unsafe file.readFully(into: memory, at: offset) } catch {
      throw LogStoreError(error, offset: offset)
    }
    guard done == memory.count else { throw damaged(offset + UInt64(done), "the file has become shorter") }
  }
}

extension Array where Element == UInt8 {
  func u32(_ offset: Int) -> UInt32 { unsafe span.bytes.u32(offset) }

  /// Lends `range` of the bytes.
  @inline(__always)
  func lend<Result, Failure: Error>(
    _ range: Range<Int>, _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try unsafe body(span.bytes.extracting(range))
  }

  /// Lends two ranges of the bytes, a record's key and value.
  @inline(__always)
  func lend<Result, Failure: Error>(
    _ key: Range<Int>, _ value: Range<Int>, _ body: (RawSpan, RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try unsafe body(span.bytes.extracting(key), span.bytes.extracting(value))
  }

  /// Moves bytes inside the array; the ranges may overlap.
  mutating func move(_ source: Range<Int>, to target: Int) {
    precondition(source.lowerBound >= 0 && source.upperBound <= count && target >= 0)
    precondition(source.count <= count - target)
    guard !source.isEmpty else { return }
    unsafe Self.move(source, to: target, in: &self)
  }

  private static func move(_ source: Range<Int>, to target: Int, in memory: UnsafeMutableRawPointer) {
    unsafe (memory + target).copyMemory(from: memory + source.lowerBound, byteCount: source.count)
  }

  /// Up to `count` bytes that `fill` writes into fresh memory; it returns how many it has initialised.
  init<Failure: Error>(
    filling count: Int, _ fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
  ) throws(Failure) {
    var failure: Failure?
    self = unsafe [UInt8](unsafeUninitializedCapacity: count) { memory, done in
      do throws(Failure) {
        done = try unsafe fill(UnsafeMutableRawBufferPointer(memory))
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
  }
}

extension StorageFile {
  /// Reads exactly `count` bytes, fewer only where the file ends.
  func read(count: Int, at offset: UInt64) throws(StorageError) -> [UInt8] {
    try unsafe [UInt8](filling: count) { (memory) throws(StorageError) in
      // The array may own more than was asked for.
      try unsafe readFully(into: UnsafeMutableRawBufferPointer(rebasing: memory[..<count]), at: offset)
    }
  }

  /// Reads up to `count` bytes behind those that `buffer` holds; returns how many there were.
  func read(appendingTo buffer: ByteBuffer, count: Int, at offset: UInt64) throws(StorageError) -> Int {
    buffer.reserve(buffer.count + count)
    let room = unsafe UnsafeMutableRawBufferPointer(start: buffer.base + buffer.count, count: count)
    let done = try unsafe readFully(into: room, at: offset)
    buffer.count += done
    return done
  }

  func write(_ buffer: ByteBuffer, _ range: Range<Int>, at offset: UInt64) throws(StorageError) {
    precondition(range.lowerBound >= 0 && range.upperBound <= buffer.count)
    var written = 0
    let bytes = unsafe UnsafeRawBufferPointer(start: buffer.base + range.lowerBound, count: range.count)
    try unsafe writeFully(bytes, at: offset, written: &written)
  }
}
