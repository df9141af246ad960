/// A key-value store as the workloads use it.
protocol Store: AnyObject, SendableMetatype {
  static var name: String { get }
  /// Whether several threads may put at once.
  static var isThreadSafe: Bool { get }
  /// How it is set up, for the reader of the table.
  static var settings: String { get }

  /// Opens or creates the store in the directory `path`.
  init(_ path: String, _ setup: Setup) throws
  func put(_ key: [UInt8], _ value: [UInt8]) throws
  /// Puts records in one batch, or transaction; their values are `records`' first ones.
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
  /// Whether what is compacted is compressed, where the store can.
  var compresses = false
  /// How long the values are, for whoever lays them out by that.
  var valueBytes = 100
  /// Memory for what was read before; nil for LogStore's default, which is small.
  var cacheBytes: Int?

  /// For the peers: as large as the data of any workload that reads.
  static let peerCacheBytes = 256 << 20
}

/// All that take part.
let allStores: [any Store.Type] = [
  LogStoreStore.self, SQLiteStore.self, LMDBStore.self, LevelDBStore.self, RocksDBStore.self,
]

func store(named name: String) throws -> any Store.Type {
  guard let found = allStores.first(where: { $0.name == name }) else { throw Failure("no store is called \(name)") }
  return found
}

extension Store {
  static var isThreadSafe: Bool { true }

  /// Writes records `0 ..< count` in batches of about 128 KiB, as far as 1,000 records.
  func load(_ count: Int, _ records: Records = Records()) throws {
    let batch = min(1000, max(1, (128 << 10) / records.frameBytes))
    var first = 0
    while first < count {
      let end = min(first + batch, count)
      let keys = (first..<end).map { Records.key($0) }
      try putBatch(keys[...], records)
      first = end
    }
  }
}

/// A store with `count` compacted records, opened anew.
@inline(never)  // the optimiser of Swift 6.3 fails on it where the kind is known
func makeStore(
  _ kind: any Store.Type, _ path: String, _ setup: Setup, _ count: Int, _ records: Records = Records()
) throws -> any Store {
  var setup = setup
  setup.valueBytes = records.valueBytes
  var loading = setup
  loading.durability = .process
  loading.compactsByItself = false
  let loader = try kind.init(path, loading)
  try loader.load(count, records)
  try loader.compact()
  try loader.close()
  return try kind.init(path, setup)
}
