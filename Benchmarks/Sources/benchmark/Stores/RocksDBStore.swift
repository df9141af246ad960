import CRocksDB

final class RocksDBStore: Store {
  static let name = "RocksDB"
  static let settings =
    "sync for power, unsynced for process; write buffer 64 MiB (512 MiB where all must stay in its log); block cache 256 MiB; Bloom filter of 10 bits; no compression, Snappy in `…-deflated`; two background threads; opened read-only where the others are"

  private let database: OpaquePointer
  private let options = rocksdb_options_create()
  private let writing = rocksdb_writeoptions_create()
  private let reading = rocksdb_readoptions_create()
  private let cache = rocksdb_cache_create_lru(Setup.peerCacheBytes)
  private let tables = rocksdb_block_based_options_create()

  init(_ path: String, _ setup: Setup) throws {
    rocksdb_options_set_create_if_missing(options, setup.isReadOnly ? 0 : 1)
    rocksdb_options_set_write_buffer_size(options, setup.keepsJournal ? 512 << 20 : 64 << 20)
    // The tables' options take the filter over.
    rocksdb_block_based_options_set_block_cache(tables, cache)
    rocksdb_block_based_options_set_filter_policy(tables, rocksdb_filterpolicy_create_bloom_full(10))
    rocksdb_options_set_block_based_table_factory(options, tables)
    rocksdb_options_set_compression(
      options, Int32(setup.compresses ? rocksdb_snappy_compression : rocksdb_no_compression))
    rocksdb_options_increase_parallelism(options, 2)
    rocksdb_writeoptions_set_sync(writing, setup.durability == .power ? 1 : 0)
    rocksdb_readoptions_set_verify_checksums(reading, 1)
    var error: UnsafeMutablePointer<CChar>?
    let opened =
      setup.isReadOnly
      ? rocksdb_open_for_read_only(options, path, 0, &error) : rocksdb_open(options, path, &error)
    try RocksDBStore.check(error)
    guard let opened else { throw Failure("RocksDB: cannot open \(path)") }
    database = opened
  }

  func put(_ key: [UInt8], _ value: [UInt8]) throws {
    var error: UnsafeMutablePointer<CChar>?
    key.withUnsafeBytes { key in
      value.withUnsafeBytes { value in
        rocksdb_put(
          database, writing, key.assumingMemoryBound(to: CChar.self).baseAddress, key.count,
          value.assumingMemoryBound(to: CChar.self).baseAddress, value.count, &error)
      }
    }
    try RocksDBStore.check(error)
  }

  func putBatch(_ keys: ArraySlice<[UInt8]>, _ records: Records) throws {
    let batch = rocksdb_writebatch_create()
    defer { rocksdb_writebatch_destroy(batch) }
    for (index, key) in keys.enumerated() {
      key.withUnsafeBytes { key in
        records.value(index).withUnsafeBytes { value in
          rocksdb_writebatch_put(
            batch, key.assumingMemoryBound(to: CChar.self).baseAddress, key.count,
            value.assumingMemoryBound(to: CChar.self).baseAddress, value.count)
        }
      }
    }
    var error: UnsafeMutablePointer<CChar>?
    rocksdb_write(database, writing, batch, &error)
    try RocksDBStore.check(error)
  }

  func get(_ key: [UInt8]) throws -> Int? {
    var error: UnsafeMutablePointer<CChar>?
    var count = 0
    let value = key.withUnsafeBytes {
      rocksdb_get(database, reading, $0.assumingMemoryBound(to: CChar.self).baseAddress, $0.count, &count, &error)
    }
    try RocksDBStore.check(error)
    guard let value else { return nil }
    rocksdb_free(value)
    return count
  }

  func sweep() throws -> Int {
    let iterator = rocksdb_create_iterator(database, reading)
    defer { rocksdb_iter_destroy(iterator) }
    var sum = 0
    rocksdb_iter_seek_to_first(iterator)
    while rocksdb_iter_valid(iterator) != 0 {
      var count = 0
      _ = rocksdb_iter_value(iterator, &count)
      sum += count
      rocksdb_iter_next(iterator)
    }
    return sum
  }

  func compact() throws { rocksdb_compact_range(database, nil, 0, nil, 0) }

  func close() throws {
    rocksdb_close(database)
    rocksdb_options_destroy(options)
    rocksdb_writeoptions_destroy(writing)
    rocksdb_readoptions_destroy(reading)
    rocksdb_cache_destroy(cache)
    rocksdb_block_based_options_destroy(tables)
  }

  private static func check(_ error: UnsafeMutablePointer<CChar>?) throws {
    guard let error else { return }
    defer { rocksdb_free(error) }
    throw Failure("RocksDB: \(String(cString: error))")
  }
}
