/// Operations that are written together: all of them or none.
///
/// A batch is at most ``Limits/batchBytes`` long, frames included. What an operation refuses leaves the batch as it was.
/// Reuse a batch with ``removeAll()`` to write without allocating.
///
/// Invariant behind the unchecked conformance: the frames are changed only while this value is their one owner
/// (`isKnownUniquelyReferenced`), as in the standard library's collections.
public struct WriteBatch: @unchecked Sendable {
  private var frames: BatchFrames

  public init() { frames = BatchFrames() }

  /// A batch whose frames hold at most so many bytes: how tests come by a value of several frames that is short.
  package init(partBytes: Int) { frames = BatchFrames(partBytes: partBytes) }

  /// How many operations there are: what the LSN will grow by.
  public var operationCount: Int { frames.operations }
  /// Bytes that the batch takes in the journal.
  public var byteCount: Int { frames.buffer.count }
  public var isEmpty: Bool { frames.operations == 0 }

  /// Puts a record: replaces the value of `key` in place, or inserts the record at the end.
  ///
  /// - Throws: `invalidKey`, `tooLarge`.
  @inlinable
  public mutating func put(_ value: some ByteSource, for key: some ByteSource) throws(LogStoreError) {
    try key.withByteSpan { (key) throws(LogStoreError) in
      try value.withByteSpan { (value) throws(LogStoreError) in try put(span: value, forSpan: key) }
    }
  }

  /// Puts a record in front of the one with key `before`; at the end if there is none.
  ///
  /// - Throws: `invalidKey`, `tooLarge`.
  public mutating func put(
    _ value: some ByteSource, for key: some ByteSource, before: some ByteSource
  ) throws(LogStoreError) {
    try edit { (frames) throws(LogStoreError) in
      try key.withByteSpan { (key) throws(LogStoreError) in
        try before.withByteSpan { (before) throws(LogStoreError) in
          try value.withByteSpan { (value) throws(LogStoreError) in
            try unsafe key.withUnsafeBytes { (key) throws(LogStoreError) in
              try unsafe before.withUnsafeBytes { (before) throws(LogStoreError) in
                try unsafe value.withUnsafeBytes { (value) throws(LogStoreError) in
                  try unsafe frames.put(key, before: before, value)
                }
              }
            }
          }
        }
      }
    }
  }

  /// Removes a record. An absent key does nothing.
  ///
  /// - Throws: `invalidKey`, `tooLarge`.
  public mutating func remove(_ key: some ByteSource) throws(LogStoreError) {
    try edit { (frames) throws(LogStoreError) in
      try key.withByteSpan { (key) throws(LogStoreError) in
        try unsafe key.withUnsafeBytes { (key) throws(LogStoreError) in try unsafe frames.remove(key) }
      }
    }
  }

  /// Moves a record in front of the one with key `before`, or to the end if there is none. An absent key does nothing.
  ///
  /// - Throws: `invalidKey`, `tooLarge`.
  public mutating func move(_ key: some ByteSource, before: some ByteSource) throws(LogStoreError) {
    try edit { (frames) throws(LogStoreError) in
      try key.withByteSpan { (key) throws(LogStoreError) in
        try before.withByteSpan { (before) throws(LogStoreError) in
          try unsafe key.withUnsafeBytes { (key) throws(LogStoreError) in
            try unsafe before.withUnsafeBytes { (before) throws(LogStoreError) in
              try unsafe frames.move(key, before: before)
            }
          }
        }
      }
    }
  }

  /// Moves a record to the end. An absent key does nothing.
  ///
  /// - Throws: `invalidKey`, `tooLarge`.
  public mutating func moveToEnd(_ key: some ByteSource) throws(LogStoreError) {
    try edit { (frames) throws(LogStoreError) in
      try key.withByteSpan { (key) throws(LogStoreError) in
        try unsafe key.withUnsafeBytes { (key) throws(LogStoreError) in try unsafe frames.move(key, before: nil) }
      }
    }
  }

  /// Removes every record.
  ///
  /// - Throws: `tooLarge`.
  public mutating func clear() throws(LogStoreError) {
    try edit { (frames) throws(LogStoreError) in try frames.clear() }
  }

  /// A frame of the application's own, for a page that holds its state.
  ///
  /// - Parameters:
  ///   - kind: 32 to 63.
  ///   - payload: what the frame holds.
  /// - Throws: `wrongState` for another kind, `tooLarge`.
  public mutating func append(_ kind: FrameKind, _ payload: some ByteSource) throws(LogStoreError) {
    try edit { (frames) throws(LogStoreError) in
      try payload.withByteSpan { (payload) throws(LogStoreError) in
        try unsafe payload.withUnsafeBytes { (payload) throws(LogStoreError) in
          try unsafe frames.application(kind, payload)
        }
      }
    }
  }

  /// The same, for whoever holds spans.
  @usableFromInline
  mutating func put(span value: RawSpan, forSpan key: RawSpan) throws(LogStoreError) {
    try edit { (frames) throws(LogStoreError) in try frames.put(key, value) }
  }

  mutating func append(_ kind: FrameKind, span payload: RawSpan) throws(LogStoreError) {
    try edit { (frames) throws(LogStoreError) in
      try unsafe payload.withUnsafeBytes { (payload) throws(LogStoreError) in
        try unsafe frames.application(kind, payload)
      }
    }
  }

  /// An operation read from a journal; `parts` are the bytes of its value that stood in front.
  mutating func add(_ frame: JournalFrame, behind parts: ByteBuffer) throws(LogStoreError) {
    var value = unsafe frame.value
    if parts.count > 0 {
      unsafe parts.append(value)
      unsafe value = parts.bytes
    }
    try edit { (frames) throws(LogStoreError) in
      switch frame.kind {
      case .put: try unsafe frames.put(frame.key, before: nil, value)
      case .putBefore: try unsafe frames.put(frame.key, before: frame.before, value, asRead: true)
      case .remove: try unsafe frames.remove(frame.key)
      case .move: try unsafe frames.move(frame.key, before: frame.before.isEmpty ? nil : frame.before)
      case .clear: try frames.clear()
      default: try unsafe frames.application(frame.kind, value)
      }
    }
  }

  /// Adds all operations of another batch.
  mutating func append(contentsOf other: WriteBatch) throws(LogStoreError) {
    let added = other.frames
    try edit { (frames) throws(LogStoreError) in try frames.append(added) }
  }

  /// Forgets the operations and keeps the memory.
  public mutating func removeAll() {
    if isKnownUniquelyReferenced(&frames) { frames.removeAll() } else { frames = BatchFrames() }
  }

  /// What the writer copies into the journal.
  var unsealed: BatchFrames { frames }

  @inline(__always)
  private mutating func edit(_ body: (BatchFrames) throws(LogStoreError) -> Void) throws(LogStoreError) {
    if !isKnownUniquelyReferenced(&frames) { frames = frames.copy() }
    try body(frames)
  }
}
