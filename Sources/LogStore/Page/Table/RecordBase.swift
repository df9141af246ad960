/// The immutable base of a table: a snapshot, read in place.
///
/// Its records have the indices `0 ..< count`, in page order. A table takes at most ``RecordTable/largestBase`` of them.
protocol RecordBase: AnyObject, Sendable {
  var count: Int { get }
  /// Where the record with `key` is; nil if the base has none. Reads storage.
  func index(of key: RawSpan) throws(LogStoreError) -> Int?
  /// The key of the record at `index`. Reads storage.
  func key(at index: Int) throws(LogStoreError) -> [UInt8]
}

/// Where a record's frames lie in a journal.
struct ValueLocation: Hashable, Sendable, BitwiseCopyable {
  /// Below 2⁴⁸ (``RecordSlot`` packs it).
  var offset: UInt64
  var file: UInt32
  var length: UInt32

  @inline(__always)
  init(file: UInt32, offset: UInt64, length: UInt32) {
    self.offset = offset
    self.file = file
    self.length = length
  }
}

/// Where a record's value is to be read.
enum RecordRef: Hashable, Sendable {
  case base(Int)
  case journal(ValueLocation)
}

/// What an operation does. Each is defined in every state.
enum TableOperationKind: UInt8, Sendable, BitwiseCopyable {
  /// Replaces the value in place; inserts an absent key at the end.
  case put
  /// Replaces the value and moves the record in front of `before`; inserts an absent key there.
  ///
  /// An absent `before` means at the end. A record put before itself keeps its place, or is inserted at the end.
  case putBefore
  /// Removes the record; an absent key does nothing.
  case remove
  /// Moves the record in front of `before`, or to the end if `before` is absent. An absent key does nothing, nor does
  /// moving a record in front of itself.
  case move
  /// Moves the record to the end; an absent key does nothing.
  case moveToEnd
  /// Removes all records, those of the base included.
  case clear

  @inline(__always)
  var namesAnchor: Bool { self == .putBefore || self == .move }
}
