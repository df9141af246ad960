/// A key-value store as the workloads use it.
protocol Store: AnyObject, SendableMetatype {
  static var name: String { get }
  /// How it is set up, for the reader of the table.
  static var settings: String { get }

  /// Opens or creates the store in the directory `path`.
  init(_ path: String, _ setup: Setup) throws
  func put(_ key: [UInt8], _ value: [UInt8]) throws
  func putBatch(_ keys: ArraySlice<[UInt8]>, _ records: Records) throws
  /// Bytes of the value; nil if there is none.
  func get(_ key: [UInt8]) throws -> Int?
  /// Reads all values in order and returns the sum of their lengths.
  func sweep() throws -> Int
  /// Folds what was written into the form that is read best.
  func compact() throws
  func close() throws
}

/// What a workload wants of a store.
struct Setup {
  enum Durability { case power, process }
  var durability = Durability.process
  var isReadOnly = false
  /// Whether everything written stays in the journal until it is asked for.
  var keepsJournal = false
  /// Whether the store compacts by itself as it would by default.
  var compactsByItself = false
}

let stores: [any Store.Type] = [
  LogStoreStore.self, SQLiteStore.self, LMDBStore.self, LevelDBStore.self, RocksDBStore.self,
]

func store(named name: String) throws -> any Store.Type {
  guard let found = stores.first(where: { $0.name == name }) else { throw Failure("no store is called \(name)") }
  return found
}

extension Store {
  /// Writes records `0 ..< count` in batches of 1,000.
  func load(_ count: Int) throws {
    let records = Records()
    var first = 0
    while first < count {
      let end = min(first + 1000, count)
      let keys = (first..<end).map { Records.key($0) }
      try putBatch(keys[...], records)
      first = end
    }
  }
}
