/// A growable run of bytes with a stable address between growths: what frames are put together in and read into.
///
/// Invariant: `base` points to `capacity` bytes that this object alone owns; the first `count` of them are initialised.
/// Not thread-safe; whoever holds the buffer uses it from one thread at a time.
@safe final class ByteBuffer {
  private(set) var base: UnsafeMutableRawPointer
  private(set) var capacity: Int
  var count: Int = 0

  init(capacity: Int = 0) {
    self.capacity = max(capacity, 64)
    unsafe base = .allocate(byteCount: self.capacity, alignment: 16)
  }

  deinit { unsafe base.deallocate() }

  var bytes: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(start: base, count: count) }

  /// All bytes owned, to be read into.
  var storage: UnsafeMutableRawBufferPointer { unsafe UnsafeMutableRawBufferPointer(start: base, count: capacity) }

  func reserve(_ bytes: Int) {
    guard bytes > capacity else { return }
    let size = max(bytes, capacity + capacity / 2)
    let grown = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
    unsafe grown.copyMemory(from: base, byteCount: count)
    unsafe base.deallocate()
    unsafe base = grown
    capacity = size
  }

  /// Gives back memory that an unusually large use has left behind.
  func trim(to bytes: Int) {
    guard capacity > bytes, count <= bytes else { return }
    let shrunk = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: 16)
    unsafe shrunk.copyMemory(from: base, byteCount: count)
    unsafe base.deallocate()
    unsafe base = shrunk
    capacity = bytes
  }

  /// Forgets the bytes and keeps the memory: `bytes` of it, or as much as was used, which may well be needed again; but
  /// not what an unusually large use has left behind.
  func reuse(keeping bytes: Int) {
    let used = count
    count = 0
    trim(to: max(bytes, min(used, ByteBuffer.largestReuse) * 2))
  }

  private static let largestReuse = 8 << 20

  /// Makes room for `bytes` more and returns where they go; they count as written.
  @inline(__always)
  func extend(_ bytes: Int) -> UnsafeMutableRawPointer {
    if count &+ bytes > capacity { reserve(count + bytes) }
    let place = unsafe base + count
    count &+= bytes
    return unsafe place
  }

  @inline(__always)
  func append(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress, bytes.count > 0 else { return }
    unsafe extend(bytes.count).copyMemory(from: source, byteCount: bytes.count)
  }

  @inline(__always)
  func append<Value: FixedWidthInteger>(_ value: Value) {
    unsafe extend(MemoryLayout<Value>.size).store(value)
  }

  func removeFirst(_ bytes: Int) {
    count -= bytes
    if count > 0 { unsafe base.copyMemory(from: base + bytes, byteCount: count) }
  }
}

/// Little-endian integers at any address.
extension UnsafeRawPointer {
  @inline(__always)
  func load<Value: FixedWidthInteger>(_ offset: Int, as type: Value.Type = Value.self) -> Value {
    Value(littleEndian: unsafe loadUnaligned(fromByteOffset: offset, as: type))
  }
}

extension UnsafeMutableRawPointer {
  @inline(__always)
  func store<Value: FixedWidthInteger>(_ value: Value, at offset: Int = 0) {
    unsafe storeBytes(of: value.littleEndian, toByteOffset: offset, as: Value.self)
  }
}
