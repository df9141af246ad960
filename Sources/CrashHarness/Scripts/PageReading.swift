import LogStore
import LogStoreTesting

/// The page of the tests.
let pagePath = "/page"

/// Options under which only the test decides what happens when.
func quietOptions(_ storage: any Storage) -> PageOptions {
  var options = PageOptions()
  options.storage = storage
  options.compaction = .manual
  options.syncAfter = .seconds(100_000)
  options.syncAfterBytes = 1 << 40
  return options
}

extension Page {
  static func open(
    _ storage: any Storage, _ mode: OpenMode = .create, policy: RecoveryPolicy? = nil
  ) throws(LogStoreError) -> Page {
    var options = quietOptions(storage)
    options.policy = policy
    return try Page(path: pagePath, mode: mode, options: options)
  }

  /// All that the page shows, read in every way there is.
  func table() throws -> OrderedTable {
    let view = try view()
    let records = try view.records()
    guard view.count == records.count else { throw Disagreement("count \(view.count), \(records.count) records") }
    for (index, record) in records.enumerated() {
      guard try view.value(for: record.key) == record.value else { throw Disagreement("value \(record.key)") }
      guard try view.index(of: record.key) == index else { throw Disagreement("index \(record.key)") }
      guard try view.record(at: index) == record else { throw Disagreement("record \(index)") }
    }
    return OrderedTable(records)
  }

  func value(_ key: String) throws -> String? {
    try view().value(for: key).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The keys, in page order.
  func keys() throws -> [String] { try view().records().map { String(decoding: $0.key, as: UTF8.self) } }
}

/// Two ways of reading a page disagree.
struct Disagreement: Error, CustomStringConvertible {
  var description: String
  init(_ description: String) { self.description = "two ways of reading disagree: " + description }
}
