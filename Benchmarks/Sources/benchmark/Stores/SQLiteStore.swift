import CSQLite

final class SQLiteStore: Store {
  static let name = "SQLite"
  // A connection may move between threads, but is not locked.
  static let isThreadSafe = false
  static let settings =
    "journal_mode WAL; synchronous FULL for power, OFF for process; a table of two blobs, WITHOUT ROWID except for values above 200 B; prepared statements; cache 256 MiB"

  private var database: OpaquePointer?
  private var putStatement: OpaquePointer?
  private var getStatement: OpaquePointer?

  init(_ path: String, _ setup: Setup) throws {
    if !setup.isReadOnly { _ = mkdirIfAbsent(path) }
    let flags = setup.isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
    try check(sqlite3_open_v2(path + "/data.sqlite", &database, flags | SQLITE_OPEN_NOMUTEX, nil))
    if setup.isReadOnly { return }
    try run("PRAGMA journal_mode=WAL")
    try run("PRAGMA synchronous=\(setup.durability == .power ? "FULL" : "OFF")")
    try run("PRAGMA cache_size=-\(Setup.peerCacheBytes >> 10)")
    if setup.keepsJournal { try run("PRAGMA wal_autocheckpoint=0") }
    // As its manual recommends: rows of more than a twentieth of a page lie better in a table of the other kind.
    let kind = setup.valueBytes > 200 ? "" : "WITHOUT ROWID"
    try run("CREATE TABLE IF NOT EXISTS records (key BLOB PRIMARY KEY, value BLOB NOT NULL) \(kind)")
  }

  func put(_ key: [UInt8], _ value: [UInt8]) throws {
    if putStatement == nil {
      try check(
        sqlite3_prepare_v2(database, "INSERT OR REPLACE INTO records VALUES (?1, ?2)", -1, &putStatement, nil))
    }
    try key.withUnsafeBytes { key in
      try value.withUnsafeBytes { value in
        try bind(putStatement, 1, key)
        try bind(putStatement, 2, value)
        guard sqlite3_step(putStatement) == SQLITE_DONE else { throw failure() }
        sqlite3_reset(putStatement)
      }
    }
  }

  func putBatch(_ keys: ArraySlice<[UInt8]>, _ records: Records) throws {
    try run("BEGIN")
    for (index, key) in keys.enumerated() { try put(key, records.value(index)) }
    try run("COMMIT")
  }

  func get(_ key: [UInt8]) throws -> Int? {
    if getStatement == nil {
      try check(sqlite3_prepare_v2(database, "SELECT value FROM records WHERE key = ?1", -1, &getStatement, nil))
    }
    return try key.withUnsafeBytes { key in
      try bind(getStatement, 1, key)
      defer { sqlite3_reset(getStatement) }
      guard sqlite3_step(getStatement) == SQLITE_ROW, let blob = sqlite3_column_blob(getStatement, 0) else {
        return nil
      }
      let count = Int(sqlite3_column_bytes(getStatement, 0))
      return [UInt8](UnsafeRawBufferPointer(start: blob, count: count)).count
    }
  }

  func sweep() throws -> Int {
    var statement: OpaquePointer?
    try check(sqlite3_prepare_v2(database, "SELECT key, value FROM records ORDER BY key", -1, &statement, nil))
    defer { sqlite3_finalize(statement) }
    var sum = 0
    while sqlite3_step(statement) == SQLITE_ROW {
      _ = sqlite3_column_blob(statement, 1)
      sum += Int(sqlite3_column_bytes(statement, 1))
    }
    return sum
  }

  func compact() throws {
    try run("VACUUM")
    try run("PRAGMA wal_checkpoint(TRUNCATE)")
  }

  func close() throws {
    sqlite3_finalize(putStatement)
    sqlite3_finalize(getStatement)
    try check(sqlite3_close(database))
    database = nil
  }

  /// Binds bytes that stay where they are until the statement is reset.
  private func bind(_ statement: OpaquePointer?, _ index: Int32, _ bytes: UnsafeRawBufferPointer) throws {
    try check(sqlite3_bind_blob(statement, index, bytes.baseAddress, Int32(bytes.count), nil))
  }

  private func run(_ sql: String) throws { try check(sqlite3_exec(database, sql, nil, nil, nil)) }

  private func check(_ code: Int32) throws { if code != SQLITE_OK { throw failure() } }

  private func failure() -> Failure { Failure("SQLite: \(String(cString: sqlite3_errmsg(database)))") }
}
