import LogStore

/// What an opening shows.
enum Sight {
  struct Shown {
    var table: OrderedTable
    var report: RecoveryReport
    var lsn: UInt64
  }

  /// The page opened, but some of it cannot be read.
  struct Unreadable {
    var error: LogStoreError
    var report: RecoveryReport
    /// What a look-up of each key that was asked for gives; those that fail with an error are not in it.
    var values: [[UInt8]: [UInt8]?] = [:]
    /// Errors of look-ups that say something else than that bytes do not verify.
    var oddities: [LogStoreError] = []

    mutating func look(for keys: [[UInt8]], in page: Page) {
      for key in keys {
        do throws(LogStoreError) {
          // Where what was written needs a record that cannot be read, there is no view at all.
          values[key] = .some(try page.view().value(for: key))
        } catch {
          if error.code != .damaged { oddities.append(error) }
        }
      }
    }
  }

  case shown(Shown)
  case unreadable(Unreadable)
  case refused(LogStoreError)
  /// Something that no caller should ever see.
  case broken(String)

  /// - Parameters:
  ///   - isThorough: whether to read in every way there is, or only in page order.
  ///   - keys: what to look up one by one where not all can be read.
  init(
    of storage: any Storage, isApplication: Bool, policy: RecoveryPolicy, mode: OpenMode = .readOnly,
    isThorough: Bool = true, keys: [[UInt8]] = []
  ) {
    do {
      self =
        isApplication
        ? try Sight.application(storage, policy, mode)
        : try Sight.table(storage, policy, mode, isThorough, keys)
    } catch let error as LogStoreError {
      self = .refused(error)
    } catch {
      self = .broken("\(error)")
    }
  }

  private static func application(_ storage: any Storage, _ policy: RecoveryPolicy, _ mode: OpenMode) throws -> Sight {
    var options = quietOptions(storage)
    options.policy = policy
    let page = try StatePage<Chronicle>(path: pagePath, mode: mode, options: options)
    return .shown(Shown(table: try page.state().table, report: page.report, lsn: page.position.lsn))
  }

  private static func table(
    _ storage: any Storage, _ policy: RecoveryPolicy, _ mode: OpenMode, _ isThorough: Bool, _ keys: [[UInt8]]
  ) throws -> Sight {
    let page = try Page.open(storage, mode, policy: policy)
    return try Sight(reading: page, isThorough, keys)
  }

  /// Reads an open page.
  init(reading page: Page, _ isThorough: Bool = true, _ keys: [[UInt8]] = []) throws {
    let report = page.report
    do {
      let table = isThorough ? try page.table() : OrderedTable(try page.view().records())
      self = .shown(Shown(table: table, report: report, lsn: page.position.lsn))
    } catch let error as LogStoreError {
      var unreadable = Unreadable(error: error, report: report)
      unreadable.look(for: keys, in: page)
      self = .unreadable(unreadable)
    }
  }
}
