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

extension FrameCodec {
  /// Checks the frame that starts at `position` of the buffer and at `offset` of the file; no more than `available`
  /// bytes from there on belong to it.
  @inline(__always)
  func check(_ buffer: ByteBuffer, _ position: Int, available: Int, offset: UInt64) -> FrameCheck {
    precondition(position >= 0 && available >= 0 && available <= buffer.count &- position)
    return unsafe check(buffer.base + position, available: available, offset: offset)
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

extension Array where Element == UInt8 {
  func u32(_ offset: Int) -> UInt32 { unsafe span.bytes.u32(offset) }
  func u64(_ offset: Int) -> UInt64 { unsafe span.bytes.u64(offset) }

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
