/// Operations on their way into a table: their keys lie in one buffer, so that filling and absorbing a block allocates
/// nothing once it has grown. Made to be reused.
struct OperationBlock: Sendable {
  struct Operation {
    var location: ValueLocation
    /// Where the key starts in `bytes`; the anchor's key follows it.
    var keyStart: Int
    var keyLength: UInt16
    var anchorLength: UInt16
    var kind: TableOperationKind

    var key: Range<Int> { keyStart..<keyStart &+ Int(keyLength) }
    var anchor: Range<Int> { key.upperBound..<key.upperBound &+ Int(anchorLength) }
  }

  private(set) var operations: [Operation] = []
  private(set) var bytes: [UInt8] = []
  /// The first operation that matters: the last `clear`, or the first of all.
  private(set) var start = 0

  var count: Int { operations.count }
  var isEmpty: Bool { operations.isEmpty }
  /// Whether the table is emptied before the operations that follow ``start``.
  var clears: Bool { start < operations.count && operations[start].kind == .clear }

  init() {}

  mutating func reserve(operations count: Int, keyBytes: Int) {
    operations.reserveCapacity(count)
    bytes.reserveCapacity(keyBytes)
  }

  /// Adds an operation. `key` and `before` are copied; kinds that have no use for them ignore them.
  ///
  /// - Precondition: keys are at most ``Limits/keyBytes`` long, and `location.offset` is below 2⁴⁸.
  mutating func append(
    _ kind: TableOperationKind, key: UnsafeRawBufferPointer, before: UnsafeRawBufferPointer, location: ValueLocation
  ) {
    precondition(key.count <= Limits.keyBytes && before.count <= Limits.keyBytes, "a key is too long")
    precondition(location.offset <= RecordSlot.largestOffset, "an offset is too large")
    let operation = Operation(
      location: location, keyStart: bytes.count, keyLength: UInt16(key.count),
      anchorLength: kind.namesAnchor ? UInt16(before.count) : 0, kind: kind)
    if kind == .clear { start = operations.count }
    unsafe bytes.append(contentsOf: key)
    if kind.namesAnchor { unsafe bytes.append(contentsOf: before) }
    operations.append(operation)
  }

  /// The same, from spans.
  mutating func append(_ kind: TableOperationKind, key: RawSpan, before: RawSpan, location: ValueLocation) {
    unsafe key.withUnsafeBytes { key in
      unsafe before.withUnsafeBytes { unsafe append(kind, key: key, before: $0, location: location) }
    }
  }

  /// Forgets the operations behind the first `count`, which a batch that came to nothing has left.
  mutating func truncate(to count: Int) {
    guard count < operations.count else { return }
    bytes.removeLast(bytes.count - operations[count].keyStart)
    operations.removeLast(operations.count - count)
    start = operations.lastIndex { $0.kind == .clear } ?? 0
  }

  mutating func removeAll(keepingCapacity: Bool = true) {
    operations.removeAll(keepingCapacity: keepingCapacity)
    bytes.removeAll(keepingCapacity: keepingCapacity)
    start = 0
  }
}
