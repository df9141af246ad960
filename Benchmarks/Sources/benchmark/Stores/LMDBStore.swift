import CLMDB

final class LMDBStore: Store {
  static let name = "LMDB"
  static let settings = "default flags for power, MDB_NOSYNC for process; one transaction a batch; map of 8 GiB"

  private var environment: OpaquePointer?
  private var database: MDB_dbi = 0
  private let isReadOnly: Bool
  private var reader: OpaquePointer?
  private let path: String
  /// Keeps the sweep from being optimised away.
  private var lastTouched: UInt8 = 0

  init(_ path: String, _ setup: Setup) throws {
    self.path = path
    isReadOnly = setup.isReadOnly
    if !isReadOnly { _ = mkdirIfAbsent(path) }
    try LMDBStore.check(mdb_env_create(&environment))
    try LMDBStore.check(mdb_env_set_mapsize(environment, 8 << 30))
    var flags: Int32 = 0
    if setup.durability == .process { flags |= MDB_NOSYNC }
    if isReadOnly { flags |= MDB_RDONLY }
    try LMDBStore.check(mdb_env_open(environment, path, UInt32(flags), 0o644))
    try transaction { transaction in try LMDBStore.check(mdb_dbi_open(transaction, nil, 0, &database)) }
  }

  func put(_ key: [UInt8], _ value: [UInt8]) throws {
    try transaction { transaction in try put(key, value, transaction) }
  }

  func putBatch(_ keys: ArraySlice<[UInt8]>, _ records: Records) throws {
    try transaction { transaction in
      for (index, key) in keys.enumerated() { try put(key, records.value(index), transaction) }
    }
  }

  private func put(_ key: [UInt8], _ value: [UInt8], _ transaction: OpaquePointer?) throws {
    try key.withUnsafeBytes { key in
      try value.withUnsafeBytes { value in
        var (key, value) = (LMDBStore.value(key), LMDBStore.value(value))
        try LMDBStore.check(mdb_put(transaction, database, &key, &value, 0))
      }
    }
  }

  func get(_ key: [UInt8]) throws -> Int? {
    // One reader, renewed for each look-up: what its manual recommends.
    if let reader {
      try LMDBStore.check(mdb_txn_renew(reader))
    } else {
      try LMDBStore.check(mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &reader))
    }
    defer { mdb_txn_reset(reader) }
    return try key.withUnsafeBytes { bytes in
      var key = LMDBStore.value(bytes)
      var value = MDB_val()
      let code = mdb_get(reader, database, &key, &value)
      if code == MDB_NOTFOUND { return nil }
      try LMDBStore.check(code)
      return [UInt8](UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)).count
    }
  }

  func sweep() throws -> Int {
    var sum = 0
    var touched: UInt8 = 0
    var transaction: OpaquePointer?
    try LMDBStore.check(mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &transaction))
    defer { mdb_txn_abort(transaction) }
    var cursor: OpaquePointer?
    try LMDBStore.check(mdb_cursor_open(transaction, database, &cursor))
    defer { mdb_cursor_close(cursor) }
    var (key, value) = (MDB_val(), MDB_val())
    while mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == MDB_SUCCESS {
      // Touches the value, as the others' reading does.
      if let data = value.mv_data { touched ^= data.load(fromByteOffset: value.mv_size - 1, as: UInt8.self) }
      sum += value.mv_size
    }
    lastTouched = touched
    return sum
  }

  /// Writes a compact copy, in the place of an earlier one; it is not put in the original's place.
  func compact() throws {
    Scratch.remove(path + ".copy")
    guard mkdirIfAbsent(path + ".copy") else { throw Failure(errno: path) }
    try LMDBStore.check(mdb_env_copy2(environment, path + ".copy", UInt32(MDB_CP_COMPACT)))
  }

  func close() throws {
    if let reader { mdb_txn_abort(reader) }
    mdb_env_close(environment)
  }

  private func transaction(_ body: (OpaquePointer?) throws -> Void) throws {
    var transaction: OpaquePointer?
    try LMDBStore.check(mdb_txn_begin(environment, nil, isReadOnly ? UInt32(MDB_RDONLY) : 0, &transaction))
    do {
      try body(transaction)
    } catch {
      mdb_txn_abort(transaction)
      throw error
    }
    try LMDBStore.check(mdb_txn_commit(transaction))
  }

  private static func value(_ bytes: UnsafeRawBufferPointer) -> MDB_val {
    MDB_val(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
  }

  private static func check(_ code: Int32) throws {
    guard code == MDB_SUCCESS else { throw Failure("LMDB: \(String(cString: mdb_strerror(code)))") }
  }
}
