import LogStore

final class LogStoreStore: Store {
  static let name = "LogStore"
  static let settings =
    "durability .power or .process; compaction .manual, except in `process-compacting` and `amplification`; a cache of 8 MiB, its default, except in `get-random`'s reference; deflates in `…-deflated` only"

  let page: Page
  private var view: PageView?
  private var batch = WriteBatch()

  init(_ path: String, _ setup: Setup) throws {
    var options = PageOptions()
    options.durability = setup.durability == .power ? .power : .process
    options.compaction = setup.compactsByItself ? CompactionPolicy() : .manual
    options.compression = setup.compresses ? .deflate : .none
    if let cacheBytes = setup.cacheBytes { options.cacheBytes = cacheBytes }
    page = try Page(path: path, mode: setup.isReadOnly ? .readOnly : .create, options: options)
  }

  func put(_ key: [UInt8], _ value: [UInt8]) throws { try page.put(value, for: key) }

  func putBatch(_ keys: ArraySlice<[UInt8]>, _ records: Records) throws {
    batch.removeAll()
    for (index, key) in keys.enumerated() { try batch.put(records.value(index), for: key) }
    try page.write(batch)
  }

  func get(_ key: [UInt8]) throws -> Int? { try current().value(for: key)?.count }

  func sweep() throws -> Int {
    var sum = 0
    try current().forEach { _, value in
      sum += value.byteCount
      return true
    }
    return sum
  }

  /// Takes a new view, and so takes in what was written.
  func takeView() throws { view = try page.view() }

  private func current() throws -> PageView {
    if let view { return view }
    let fresh = try page.view()
    view = fresh
    return fresh
  }

  func compact() throws {
    // Room for many rounds: otherwise what was compacted away stays for ten minutes.
    try page.compact(keep: Retention.none)
    view = nil
  }

  func close() throws {
    view = nil
    try page.close()
  }
}
