import LogStore
import LogStoreTesting

/// A page of either kind, as workloads and checks use it.
enum OpenPage {
  case records(Page)
  case state(StatePage<TableAsState>)

  /// A batch's frames hold no more, so that a short value takes several.
  static let partBytes = 32

  /// Only the workload decides what happens when; nothing waits for a time.
  static func options(_ storage: any Storage) -> PageOptions {
    var options = PageOptions()
    options.storage = storage
    options.compaction = .manual
    options.syncAfter = .seconds(Int64.max)
    options.syncAfterBytes = 1 << 40
    options.cacheBytes = 64 << 10
    return options
  }

  init(_ kind: Workload.Kind, _ storage: any Storage, _ path: String, _ mode: OpenMode) throws(LogStoreError) {
    let options = OpenPage.options(storage)
    switch kind {
    case .records: self = .records(try Page(path: path, mode: mode, options: options))
    case .state: self = .state(try StatePage(path: path, mode: mode, options: options))
    }
  }

  var report: RecoveryReport {
    switch self {
    case .records(let page): page.report
    case .state(let page): page.report
    }
  }

  var position: Position {
    switch self {
    case .records(let page): page.position
    case .state(let page): page.position
    }
  }

  var lsn: UInt64 { position.lsn }

  func write(_ operations: [TableOperation], _ durability: Durability) throws(LogStoreError) {
    var batch = WriteBatch(partBytes: OpenPage.partBytes)
    switch self {
    case .records(let page):
      for operation in operations { try operation.add(to: &batch) }
      try page.write(batch, durability: durability)
    case .state(let page):
      for operation in operations { try TableAsState.add(operation, to: &batch) }
      try page.write(batch, durability: durability)
    }
  }

  func sync() throws(LogStoreError) {
    switch self {
    case .records(let page): try page.sync()
    case .state(let page): try page.sync()
    }
  }

  func compact(_ keep: Retention) throws(LogStoreError) {
    switch self {
    case .records(let page): try page.compact(keep: keep)
    case .state(let page): try page.compact(keep: keep)
    }
  }

  func recover() throws(LogStoreError) {
    switch self {
    case .records(let page): try page.recover()
    case .state(let page): try page.recover()
    }
  }

  func suspend() throws(LogStoreError) {
    switch self {
    case .records(let page): try page.suspend()
    case .state(let page): try page.suspend()
    }
  }

  func resume() throws(LogStoreError) {
    switch self {
    case .records(let page): try page.resume()
    case .state(let page): try page.resume()
    }
  }

  func close() throws(LogStoreError) {
    switch self {
    case .records(let page): try page.close()
    case .state(let page): try page.close()
    }
  }

  /// What stands for all that the page shows, by the quickest way to read it.
  func fingerprint() throws -> Fingerprint {
    switch self {
    case .records(let page):
      var print = Fingerprint()
      try page.view().forEach { key, value in
        print.add(key)
        print.add(value)
        return true
      }
      return print
    case .state(let page): return Fingerprint(try page.state().table)
    }
  }

  /// All that the page shows, read in every way there is.
  func table() throws -> OrderedTable {
    switch self {
    case .records(let page): try page.table()
    case .state(let page): try page.state().table
    }
  }
}
