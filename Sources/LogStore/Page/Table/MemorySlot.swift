/// A piece of a page of table memory, from some offset to the page's end.
///
/// This and the page map are the only places where table memory is touched. Every offset passed in is a constant of a
/// layout or an index that was checked against the layout's capacity, so accesses stay inside the slot, which lies in
/// one page; debug builds check each against the page's end. Loads are aligned: pages start at multiples of 4,096,
/// slots at multiples of 8, and fields at multiples of their size.
///
/// Sendable because it is only an address. Who may use it: a page that a view can see is written by nobody (the writer
/// copies it first, see ``PagedMemory``), and a page that none can see is used by the table's one writer alone.
@safe
struct MemorySlot: @unchecked Sendable {
  /// Bytes of a page.
  static let pageBytes = 4096

  private let base: UnsafeMutableRawPointer

  init(_ base: UnsafeMutableRawPointer) { unsafe self.base = unsafe base }

  var address: UnsafeMutableRawPointer { unsafe base }

  @inline(__always)
  func advanced(by offset: Int) -> MemorySlot { unsafe MemorySlot(base + offset) }

  @inline(__always)
  private func check(_ offset: Int, _ size: Int) {
    unsafe assert(
      offset >= 0 && Int(bitPattern: base) & (MemorySlot.pageBytes - 1) + offset + size <= MemorySlot.pageBytes,
      "an access leaves its page")
  }

  // MARK: Fields

  @inline(__always)
  func load<T: FixedWidthInteger & BitwiseCopyable>(_ offset: Int, as type: T.Type = T.self) -> T {
    check(offset, MemoryLayout<T>.size)
    return unsafe base.load(fromByteOffset: offset, as: T.self)
  }

  @inline(__always)
  func store<T: FixedWidthInteger & BitwiseCopyable>(_ value: T, at offset: Int) {
    check(offset, MemoryLayout<T>.size)
    unsafe base.storeBytes(of: value, toByteOffset: offset, as: T.self)
  }

  // MARK: Arrays

  /// Asks the processor to fetch what lies at `offset`, for use soon.
  @inline(__always)
  func prefetch(_ offset: Int) {
    check(offset, 1)
    unsafe prefetchMemory(base + offset)
  }

  /// Moves bytes within the slot; the ranges may overlap.
  @inline(__always)
  func move(from: Int, to: Int, bytes: Int) {
    check(from, bytes)
    check(to, bytes)
    unsafe (base + to).copyMemory(from: base + from, byteCount: bytes)
  }

  @inline(__always)
  func copy(from other: MemorySlot, _ from: Int = 0, to: Int = 0, bytes: Int) {
    other.check(from, bytes)
    check(to, bytes)
    unsafe (base + to).copyMemory(from: other.base + from, byteCount: bytes)
  }

  func zero(bytes: Int, at offset: Int = 0) {
    check(offset, bytes)
    unsafe _ = (base + offset).initializeMemory(as: UInt8.self, repeating: 0, count: bytes)
  }

  /// In debug builds, spoils a page that nobody may read any more, so that a stale read does not go unnoticed.
  @inline(__always)
  func spoil() {
    assert(
      {
        unsafe _ = base.initializeMemory(as: UInt8.self, repeating: 0xDD, count: MemorySlot.pageBytes)
        return true
      }())
  }

  /// The sum of `count` integers of four bytes.
  @inline(__always)
  func sum(_ offset: Int, count: Int) -> Int {
    check(offset, count * 4)
    let values = unsafe (base + offset).assumingMemoryBound(to: UInt32.self)
    var sum: UInt64 = 0
    for i in 0..<count { unsafe sum &+= UInt64(values[i]) }
    return Int(truncatingIfNeeded: sum)
  }

  /// The first of `count` integers that equals `value`.
  @inline(__always)
  func firstIndex<T: FixedWidthInteger & BitwiseCopyable>(of value: T, at offset: Int, count: Int) -> Int? {
    check(offset, count * MemoryLayout<T>.size)
    let values = unsafe (base + offset).assumingMemoryBound(to: T.self)
    var i = 0
    // Eight at a time without a branch in between: these scans are most of the cost of finding a record's rank.
    while i &+ 8 <= count {
      var found = false
      for k in 0..<8 { unsafe found = found != (values[i &+ k] == value) }
      if found { break }
      i &+= 8
    }
    while i < count {
      if unsafe values[i] == value { return i }
      i &+= 1
    }
    return nil
  }

  // MARK: Keys

  @inline(__always)
  func copy(_ bytes: RawSpan, to offset: Int) {
    check(offset, bytes.byteCount)
    unsafe bytes.withUnsafeBytes { unsafe copyBytes(from: $0, to: base + offset) }
  }

  /// Whether the bytes at `offset` are those of `key`.
  @inline(__always)
  func equals(_ key: RawSpan, at offset: Int) -> Bool {
    let count = key.byteCount
    check(offset, count)
    return unsafe key.withUnsafeBytes { unsafe equalBytes(base + offset, $0.baseAddress, count) }
  }

  /// Hands out `count` bytes at `offset`, for the duration of the call.
  @inline(__always)
  func withBytes<R, E: Error>(_ offset: Int, count: Int, _ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    check(offset, count)
    let bytes = unsafe UnsafeRawBufferPointer(start: base + offset, count: count)
    // Two statements: as one expression this crashes the 6.3 optimiser when it is told to keep assertions.
    let span = unsafe bytes.bytes
    return try body(span)
  }
}

extension RawSpan {
  func hasSameBytes(as other: RawSpan) -> Bool {
    guard byteCount == other.byteCount else { return false }
    return unsafe withUnsafeBytes { mine in
      unsafe other.withUnsafeBytes { unsafe equalBytes(mine.baseAddress, $0.baseAddress, mine.count) }
    }
  }
}

/// Copies bytes to a place that has room for them. For short keys this is faster than a call of `memcpy`.
@inline(__always)
func copyBytes(from source: UnsafeRawBufferPointer, to target: UnsafeMutableRawPointer) {
  let count = source.count
  guard count > 0, let start = source.baseAddress else { return }
  if count > 64 { return unsafe target.copyMemory(from: start, byteCount: count) }
  var i = 0
  if count >= 8 {
    while i &+ 8 < count {
      unsafe target.storeBytes(
        of: start.loadUnaligned(fromByteOffset: i, as: UInt64.self), toByteOffset: i, as: UInt64.self)
      i &+= 8
    }
    // The last eight may overlap those before them.
    unsafe target.storeBytes(
      of: start.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self), toByteOffset: count &- 8, as: UInt64.self)
    return
  }
  while i < count {
    unsafe target.storeBytes(of: start.load(fromByteOffset: i, as: UInt8.self), toByteOffset: i, as: UInt8.self)
    i &+= 1
  }
}

/// Compares two readable areas of `count` bytes. For short keys this is faster than a call of `memcmp`.
@inline(__always)
private func equalBytes(_ a: UnsafeRawPointer?, _ b: UnsafeRawPointer?, _ count: Int) -> Bool {
  guard count > 0, let a = unsafe a, let b = unsafe b else { return count == 0 }
  var i = 0
  while i &+ 8 <= count {
    if unsafe a.loadUnaligned(fromByteOffset: i, as: UInt64.self)
      != b.loadUnaligned(fromByteOffset: i, as: UInt64.self)
    {
      return false
    }
    i &+= 8
  }
  while i < count {
    if unsafe a.load(fromByteOffset: i, as: UInt8.self) != b.load(fromByteOffset: i, as: UInt8.self) { return false }
    i &+= 1
  }
  return true
}
