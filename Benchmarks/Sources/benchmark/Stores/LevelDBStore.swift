import CLevelDB

final class LevelDBStore: Store {
  static let name = "LevelDB"
  static let settings =
    "sync for power, unsynced for process; write buffer 64 MiB (512 MiB where all must stay in its log); block cache 256 MiB; Bloom filter of 10 bits; no compression, Snappy in `…-deflated`"

  private let database: OpaquePointer
  private let options = leveldb_options_create()
  private let writing = leveldb_writeoptions_create()
  private let reading = leveldb_readoptions_create()
  private let cache = leveldb_cache_create_lru(Setup.peerCacheBytes)
  private let filter = leveldb_filterpolicy_create_bloom(10)

  init(_ path: String, _ setup: Setup) throws {
    leveldb_options_set_create_if_missing(options, setup.isReadOnly ? 0 : 1)
    leveldb_options_set_write_buffer_size(options, setup.keepsJournal ? 512 << 20 : 64 << 20)
    leveldb_options_set_cache(options, cache)
    leveldb_options_set_filter_policy(options, filter)
    leveldb_options_set_compression(
      options, Int32(setup.compresses ? leveldb_snappy_compression : leveldb_no_compression))
    leveldb_writeoptions_set_sync(writing, setup.durability == .power ? 1 : 0)
    leveldb_readoptions_set_verify_checksums(reading, 1)
    var error: UnsafeMutablePointer<CChar>?
    let opened = leveldb_open(options, path, &error)
    try LevelDBStore.check(error)
    guard let opened else { throw Failure("LevelDB: cannot open \(path)") }
    database = opened
  }

  func put(_ key: [UInt8], _ value: [UInt8]) throws {
    var error: UnsafeMutablePointer<CChar>?
    key.withUnsafeBytes { key in
      value.withUnsafeBytes { value in
        leveldb_put(
          database, writing, key.assumingMemoryBound(to: CChar.self).baseAddress, key.count,
          value.assumingMemoryBound(to: CChar.self).baseAddress, value.count, &error)
      }
    }
    try LevelDBStore.check(error)
  }

  func putBatch(_ keys: ArraySlice<[UInt8]>, _ records: Records) throws {
    let batch = leveldb_writebatch_create()
    defer { leveldb_writebatch_destroy(batch) }
    for (index, key) in keys.enumerated() {
      key.withUnsafeBytes { key in
        records.value(index).withUnsafeBytes { value in
          leveldb_writebatch_put(
            batch, key.assumingMemoryBound(to: CChar.self).baseAddress, key.count,
            value.assumingMemoryBound(to: CChar.self).baseAddress, value.count)
        }
      }
    }
    var error: UnsafeMutablePointer<CChar>?
    leveldb_write(database, writing, batch, &error)
    try LevelDBStore.check(error)
  }

  func get(_ key: [UInt8]) throws -> Int? {
    var error: UnsafeMutablePointer<CChar>?
    var count = 0
    let value = key.withUnsafeBytes {
      leveldb_get(database, reading, $0.assumingMemoryBound(to: CChar.self).baseAddress, $0.count, &count, &error)
    }
    try LevelDBStore.check(error)
    guard let value else { return nil }
    leveldb_free(value)
    return count
  }

  func sweep() throws -> Int {
    let iterator = leveldb_create_iterator(database, reading)
    defer { leveldb_iter_destroy(iterator) }
    var sum = 0
    leveldb_iter_seek_to_first(iterator)
    while leveldb_iter_valid(iterator) != 0 {
      var count = 0
      _ = leveldb_iter_value(iterator, &count)
      sum += count
      leveldb_iter_next(iterator)
    }
    return sum
  }

  func compact() throws { leveldb_compact_range(database, nil, 0, nil, 0) }

  func close() throws {
    leveldb_close(database)
    leveldb_options_destroy(options)
    leveldb_writeoptions_destroy(writing)
    leveldb_readoptions_destroy(reading)
    leveldb_cache_destroy(cache)
    leveldb_filterpolicy_destroy(filter)
  }

  private static func check(_ error: UnsafeMutablePointer<CChar>?) throws {
    guard let error else { return }
    defer { leveldb_free(error) }
    throw Failure("LevelDB: \(String(cString: error))")
  }
}
