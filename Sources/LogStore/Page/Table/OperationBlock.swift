/// Operations on their way into a table, one behind the other in one buffer: each with its keys' hashes, and its keys
/// behind it. Filling and absorbing a block allocates nothing once it has grown. Made to be reused.
///
/// Invariant behind the unchecked conformance: used by one thread at a time, which a ``TableFeed`` sees to.
///
/// Invariant: `buffer` holds whole operations only, each at a multiple of eight bytes; so a place that `first`, or
/// ``Operation/end``, names is that of an operation or the end.
final class OperationBlock: @unchecked Sendable {
  struct Operation: BitwiseCopyable {
    var location: ValueLocation
    var tag: UInt32
    var anchorTag: UInt32
    /// Where the key is in the base if it is there; -1 if it is not, or if the overlay had it.
    ///
    /// Once the overlay has had a key, its base record is out of the order for good. So if the overlay has lost it by
    /// the time the operation is applied, it is nowhere.
    var base: Int32 = -1
    var anchorBase: Int32 = -1
    var keyLength: UInt16
    var anchorLength: UInt16
    var kind: TableOperationKind

    /// Bytes that it takes in the buffer.
    @inline(__always)
    var bytes: Int { (OperationBlock.headerBytes &+ Int(keyLength) &+ Int(anchorLength) &+ 7) & ~7 }
  }

  private static let headerBytes = MemoryLayout<Operation>.size

  private let buffer = ByteBuffer()
  private(set) var count = 0
  /// The first operation that matters: the last `clear`, or the first of all.
  private(set) var first = 0

  /// Where the operations end.
  var end: Int { buffer.count }
  var isEmpty: Bool { count == 0 }
  /// Whether the table is emptied before the operations that follow the first.
  var clears: Bool { first < end && operation(at: first).kind == .clear }

  init() {}

  // MARK: Filling

  /// Adds an operation. `key` and `before` are copied; kinds that have no use for them ignore them. `hash` is that of the
  /// table.
  ///
  /// - Precondition: keys are at most ``Limits/keyBytes`` long, and `location.offset` is below 2⁴⁸.
  @inline(__always)
  func append(
    _ kind: TableOperationKind, key: UnsafeRawBufferPointer, before: UnsafeRawBufferPointer, location: ValueLocation,
    hash: KeyHash
  ) {
    precondition(key.count <= Limits.keyBytes && before.count <= Limits.keyBytes, "a key is too long")
    precondition(location.offset <= RecordSlot.largestOffset, "an offset is too large")
    var operation = Operation(
      location: location, tag: unsafe hash.tag(RawSpan(_unsafeBytes: key)), anchorTag: 0,
      keyLength: UInt16(truncatingIfNeeded: key.count), anchorLength: 0, kind: kind)
    if kind.namesAnchor {
      operation.anchorTag = unsafe hash.tag(RawSpan(_unsafeBytes: before))
      operation.anchorLength = UInt16(truncatingIfNeeded: before.count)
    }
    if kind == .clear { first = end }
    let place = unsafe buffer.extend(operation.bytes)
    unsafe place.storeBytes(of: operation, as: Operation.self)
    unsafe copyBytes(from: key, to: place + OperationBlock.headerBytes)
    if kind.namesAnchor { unsafe copyBytes(from: before, to: place + OperationBlock.headerBytes + key.count) }
    count &+= 1
  }

  /// Forgets the operations behind the first `count`, which end at `end`: those of a batch that came to nothing.
  func truncate(to count: Int, end: Int) {
    guard count < self.count else { return }
    self.count = count
    buffer.count = end
    guard first >= end else { return }
    first = 0
    var place = 0
    while place < end {
      let operation = operation(at: place)
      if operation.kind == .clear { first = place }
      place += operation.bytes
    }
  }

  func removeAll() {
    buffer.count = 0
    // A huge batch must not keep its memory for good.
    buffer.trim(to: 1 << 20)
    count = 0
    first = 0
  }

  // MARK: Reading

  @inline(__always)
  func operation(at place: Int) -> Operation {
    assert(place >= 0 && place + OperationBlock.headerBytes <= end)
    return unsafe buffer.base.load(fromByteOffset: place, as: Operation.self)
  }

  func setBase(_ base: Int32, anchor: Int32, at place: Int) {
    var operation = operation(at: place)
    operation.base = base
    operation.anchorBase = anchor
    unsafe buffer.base.storeBytes(of: operation, toByteOffset: place, as: Operation.self)
  }

  /// The key of the operation at `place`, and its anchor's; good until the block is changed.
  @inline(__always)
  func key(of operation: Operation, at place: Int) -> UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(
      start: buffer.base + place + OperationBlock.headerBytes, count: Int(operation.keyLength))
  }

  @inline(__always)
  func anchor(of operation: Operation, at place: Int) -> UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(
      start: buffer.base + place + OperationBlock.headerBytes + Int(operation.keyLength),
      count: Int(operation.anchorLength))
  }
}
