import LogStore

/// A page of the corpus that is open for writing, whichever kind of state it holds.
enum OpenedPage {
  case table(Page)
  case application(StatePage<Chronicle>)

  init(_ storage: any Storage, isApplication: Bool, policy: RecoveryPolicy = .salvage) throws {
    if isApplication {
      var options = quietOptions(storage)
      options.policy = policy
      self = .application(try StatePage(path: pagePath, mode: .readWrite, options: options))
    } else {
      self = .table(try Page.open(storage, .readWrite, policy: policy))
    }
  }

  var report: RecoveryReport {
    switch self {
    case .table(let page): page.report
    case .application(let page): page.report
    }
  }

  func sight(_ keys: [[UInt8]]) throws -> Sight {
    switch self {
    case .table(let page): return try Sight(reading: page, true, keys)
    case .application(let page):
      return .shown(Sight.Shown(table: try page.state().table, report: page.report, lsn: page.position.lsn))
    }
  }

  func write(_ operations: [TableOperation]) throws {
    switch self {
    case .table(let page): try page.write(WriteBatch(operations))
    case .application(let page): try page.write(Chronicle.batch(operations))
    }
  }

  func compact() throws {
    switch self {
    case .table(let page): try page.compact(keep: .previous)
    case .application(let page): try page.compact(keep: .previous)
    }
  }

  func close() throws {
    switch self {
    case .table(let page): try page.close()
    case .application(let page): try page.close()
    }
  }
}
