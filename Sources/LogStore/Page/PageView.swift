/// A page as it was at one moment.
///
/// A value: taken in constant time, consistent, unaffected by later writes, safe to hand to any thread. Reading a value
/// reads the file it lies in and verifies it; holding a view keeps the files it refers to open, and so their space taken.
public struct PageView: Sendable {
  let table: TableView
  let base: SnapshotBase?
  let values: JournalValues
  /// The position that the view shows.
  public let position: Position

  /// Records in the page.
  public var count: Int { table.count }
  public var isEmpty: Bool { table.count == 0 }

  /// The value of `key`; nil if there is no such record.
  ///
  /// - Complexity: a look-up in memory for what was written since the snapshot; otherwise at most three reads.
  /// - Throws: `damaged`, `io`, `unavailable`. An unreadable record is an error, never absent.
  @inlinable
  public func value(for key: some ByteSource) throws(LogStoreError) -> [UInt8]? {
    try key.withByteSpan { (key) throws(LogStoreError) in try value(forSpan: key) }
  }

  @usableFromInline
  func value(forSpan key: RawSpan) throws(LogStoreError) -> [UInt8]? {
    if let ref = table.overlayRef(of: key) { return try value(of: ref) }
    // Index and value in one go: what finding the key reads is what the value is read from.
    guard let base, let found = try base.find(key), table.holds(base: found.index) else { return nil }
    return found.value
  }

  /// Whether there is a record with `key`.
  public func contains(_ key: some ByteSource) throws(LogStoreError) -> Bool {
    try key.withByteSpan { (key) throws(LogStoreError) in try table.find(key) != nil }
  }

  /// The place of `key`'s record in page order; nil if there is none.
  ///
  /// - Complexity: O(log *n*), n being the records written since the snapshot.
  public func index(of key: some ByteSource) throws(LogStoreError) -> Int? {
    try key.withByteSpan { (key) throws(LogStoreError) in try table.index(of: key) }
  }

  /// The record at a place in page order.
  ///
  /// - Precondition: `index` is in `0 ..< count`.
  /// - Complexity: O(log *n*), and at most two reads.
  public func record(at index: Int) throws(LogStoreError) -> Record {
    var key: [UInt8]?
    let ref = table.withKey(at: index) { (span, ref) in
      if let span { unsafe span.withUnsafeBytes { unsafe key = Array($0) } }
      return ref
    }
    if let key { return Record(key: key, value: try value(of: ref)) }
    guard case .base(let place) = ref, let base else {
      throw LogStoreError(.damaged, "a record has no key; close the page and open it again")
    }
    return Record(key: try base.key(at: place), value: try base.value(at: place))
  }

  /// Calls `body` with key and value of each record, in page order, until it returns false.
  ///
  /// The spans are valid during the call only. Records that lie behind one another are read together.
  ///
  /// - Parameters:
  ///   - range: places in page order; nil for all.
  ///   - body: receives each record; returns false to stop. It may call the page.
  public func forEach(
    in range: Range<Int>? = nil, _ body: (_ key: RawSpan, _ value: RawSpan) throws -> Bool
  ) throws {
    try sweep(range ?? 0..<count, { _, _, _ in false }, body)
  }

  /// The same; whole blocks of the snapshot are offered to `take` first.
  func sweep(
    _ range: Range<Int>, _ take: SnapshotSweep.BlockTaker,
    _ body: (_ key: RawSpan, _ value: RawSpan) throws -> Bool
  ) throws {
    let sweep = JournalSweep(values)
    let baseSweep = base.map { BaseSweep($0, isWhole: range.upperBound == count) }
    try table.forEachPiece(in: range) { piece in
      switch piece {
      case .base(let run):
        return try baseSweep?.forEach(in: run, take, body) ?? true
      case .journal(let key, let location):
        return try unsafe sweep.withValue(at: location) { value in
          try unsafe body(key, RawSpan(_unsafeBytes: value))
        }
      }
    }
  }

  /// All records, in page order.
  public func records() throws -> [Record] {
    var records: [Record] = []
    records.reserveCapacity(count)
    try forEach { key, value in
      unsafe records.append(
        Record(key: key.withUnsafeBytes { unsafe Array($0) }, value: value.withUnsafeBytes { unsafe Array($0) }))
      return true
    }
    return records
  }

  private func value(of ref: RecordRef) throws(LogStoreError) -> [UInt8] {
    switch ref {
    case .journal(let location): return try values.value(at: location)
    case .base(let index):
      guard let base else {
        throw LogStoreError(.damaged, "a record's snapshot is gone; close the page and open it again")
      }
      return try base.value(at: index)
    }
  }
}

/// A record of a page.
public struct Record: Sendable, Hashable {
  public var key: [UInt8]
  public var value: [UInt8]

  public init(key: [UInt8], value: [UInt8]) {
    self.key = key
    self.value = value
  }
}
