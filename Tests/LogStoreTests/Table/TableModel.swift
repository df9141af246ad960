import Synchronization

@testable import LogStore

/// A base in memory. Can be told to fail.
final class ModelBase: RecordBase {
  let keys: [[UInt8]]
  private let places: [[UInt8]: Int]
  /// Look-ups until one fails; negative for never.
  private let lookUps = Mutex(-1)

  init(_ keys: [[UInt8]]) {
    self.keys = keys
    places = Dictionary(uniqueKeysWithValues: keys.enumerated().map { ($1, $0) })
  }

  var count: Int { keys.count }

  func fail(after lookUps: Int) { self.lookUps.withLock { $0 = lookUps } }

  func index(of key: RawSpan) throws(LogStoreError) -> Int? {
    let fails = lookUps.withLock { left in
      left -= 1
      return left == -1
    }
    if fails { throw LogStoreError(.io, "as asked") }
    return places[key.array]
  }

  func key(at index: Int) throws(LogStoreError) -> [UInt8] { keys[index] }
}

extension RawSpan {
  var array: [UInt8] { unsafe withUnsafeBytes { unsafe Array($0) } }
}

/// An operation, with a value that no other has.
struct ModelOperation: CustomStringConvertible {
  var kind: TableOperationKind
  var key: [UInt8] = []
  var anchor: [UInt8] = []
  var serial = 0

  var location: ValueLocation {
    ValueLocation(file: UInt32(serial % 3), offset: UInt64(serial) * 1_000_003, length: UInt32(serial & 0xFFFF))
  }

  var description: String { "\(kind) \(key) \(anchor)" }
}

/// What a table should be: an array, with the operations as the documentation defines them.
struct TableModel {
  struct Entry: Equatable {
    var key: [UInt8]
    var ref: RecordRef
  }

  var entries: [Entry]

  init(base: ModelBase?) {
    entries = (base?.keys ?? []).enumerated().map { Entry(key: $1, ref: .base($0)) }
  }

  func index(_ key: [UInt8]) -> Int? { entries.firstIndex { $0.key == key } }

  mutating func apply(_ operation: ModelOperation) {
    let found = index(operation.key)
    switch operation.kind {
    case .put: put(operation)
    case .putBefore:
      if operation.anchor == operation.key { return put(operation) }
      if let found { entries.remove(at: found) }
      entries.insert(
        Entry(key: operation.key, ref: .journal(operation.location)), at: index(operation.anchor) ?? entries.count)
    case .remove:
      if let found { entries.remove(at: found) }
    case .move:
      guard let found, operation.anchor != operation.key else { return }
      let entry = entries.remove(at: found)
      entries.insert(entry, at: index(operation.anchor) ?? entries.count)
    case .moveToEnd:
      guard let found else { return }
      entries.append(entries.remove(at: found))
    case .clear: entries = []
    }
  }

  private mutating func put(_ operation: ModelOperation) {
    let ref = RecordRef.journal(operation.location)
    if let found = index(operation.key) {
      entries[found].ref = ref
    } else {
      entries.append(Entry(key: operation.key, ref: ref))
    }
  }
}

extension OperationBlock {
  func append(_ operation: ModelOperation, hash: KeyHash) {
    unsafe operation.key.withUnsafeBytes { key in
      unsafe operation.anchor.withUnsafeBytes {
        unsafe append(operation.kind, key: key, before: $0, location: operation.location, hash: hash)
      }
    }
  }
}

extension RecordTable {
  func absorb(_ operations: some Sequence<ModelOperation>) throws(LogStoreError) {
    let block = OperationBlock()
    for operation in operations { block.append(operation, hash: hash) }
    try absorb(block)
  }
}

extension TableView {
  func find(_ key: [UInt8]) throws(LogStoreError) -> RecordRef? { try find(unsafe key.span.bytes) }
  func index(of key: [UInt8]) throws(LogStoreError) -> Int? { try index(of: unsafe key.span.bytes) }

  /// The pieces of a range, one entry a record. Keys of the base are looked up there.
  func entries(in range: Range<Int>) throws -> [TableModel.Entry] {
    var result: [TableModel.Entry] = []
    try forEachPiece(in: range) { piece in
      switch piece {
      case .base(let run):
        for index in run { result.append(.init(key: try base!.key(at: index), ref: .base(index))) }
      case .journal(let key, let location):
        result.append(.init(key: key.array, ref: .journal(location)))
      }
      return true
    }
    return result
  }

  /// The first difference from the model, or nil.
  func difference(from model: TableModel, absent: [[UInt8]] = [], samples: Int = .max) throws -> String? {
    let expected = model.entries
    guard count == expected.count else { return "count \(count), not \(expected.count)" }
    let found = try entries(in: 0..<count)
    if found != expected {
      let place = zip(found, expected).enumerated().first { $1.0 != $1.1 }?.offset ?? min(found.count, expected.count)
      return "the order differs at \(place) of \(found.count), \(expected.count)"
    }
    for i in stride(from: 0, to: count, by: max(1, count / samples)) {
      let entry = expected[i]
      if ref(at: i) != entry.ref { return "ref(at: \(i))" }
      if try find(entry.key) != entry.ref { return "find(\(entry.key))" }
      if try index(of: entry.key) != i { return "index(of: \(entry.key)), not \(i)" }
      let end = min(count, i + 7)
      if try entries(in: i..<end) != Array(expected[i..<end]) { return "the pieces of \(i)..<\(end)" }
    }
    for key in absent where !expected.contains(where: { $0.key == key }) {
      if try find(key) != nil { return "found \(key)" }
      if try index(of: key) != nil { return "rank of \(key)" }
    }
    return nil
  }
}

/// SplitMix64, so that a failure can be repeated from its seed.
struct SeededGenerator: RandomNumberGenerator {
  var state: UInt64
  init(_ seed: UInt64) { state = seed }
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

extension TableShape {
  /// Nodes and buckets so small that a few dozen records make several levels, splits, merges and chains.
  static let tiny = TableShape(leafEntries: 4, innerEntries: 4, bucketEntries: 6, directoryDepth: 12)

  static let merging = TableShape(leafEntries: 16, innerEntries: 9, bucketEntries: 30, directoryDepth: 12)
}
