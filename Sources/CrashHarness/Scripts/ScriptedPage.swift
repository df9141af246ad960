import LogStore
import Synchronization

/// A page as scripts use it, whichever state it holds.
protocol ScriptedPage: AnyObject, Sendable {
  var report: RecoveryReport { get }
  var position: Position { get }
  /// All that it shows, read in every way there is.
  func table() throws -> OrderedTable
  func write(_ operations: [TableOperation], _ durability: Durability) throws(LogStoreError)
  func makeDurable() throws(LogStoreError)
  func compact(keeping retention: Retention) throws(LogStoreError)
  func recover() throws(LogStoreError)
  func suspend() throws(LogStoreError)
  func resume() throws(LogStoreError)
  func close() throws(LogStoreError)
}

/// What kind of page a script runs on.
enum ScriptedKind: Sendable {
  case table
  /// Snapshots are deflated.
  case deflated
  /// Values take several frames: the engine's limit of 64 MiB a frame is lowered to some bytes.
  case divided
  /// The engine syncs by itself, beside the writers and in their place.
  case syncing
  /// The state is the application's own.
  case application
  /// New snapshots are read back piece by piece while they are written, in the same thread.
  case readBack

  func open(
    _ storage: any Storage, _ mode: OpenMode = .create, path: String = pagePath
  ) throws(LogStoreError) -> any ScriptedPage {
    var options = quietOptions(storage)
    if case .deflated = self { options.compression = .deflate }
    if case .readBack = self { options.readBack = ReadBack(bytes: 1024, isInline: true) }
    switch self {
    case .table, .deflated, .readBack: return try Page(path: path, mode: mode, options: options)
    case .divided: return DividedPage(try Page(path: path, mode: mode, options: options))
    case .syncing: return try SyncingPage(path: path, mode, options)
    case .application: return try StatePage<Chronicle>(path: path, mode: mode, options: options)
    }
  }
}

extension Page: ScriptedPage {
  func write(_ operations: [TableOperation], _ durability: Durability) throws(LogStoreError) {
    try write(WriteBatch(operations), durability: durability)
  }

  func makeDurable() throws(LogStoreError) { try sync() }
  func compact(keeping retention: Retention) throws(LogStoreError) { try compact(keep: retention) }
}

extension StatePage: ScriptedPage where State == Chronicle {
  func table() throws -> OrderedTable { try state().table }

  func write(_ operations: [TableOperation], _ durability: Durability) throws(LogStoreError) {
    try write(Chronicle.batch(operations), durability: durability)
  }

  func makeDurable() throws(LogStoreError) { try sync() }
  func compact(keeping retention: Retention) throws(LogStoreError) { try compact(keep: retention) }
}

/// A page that is written to in a way of its own.
private protocol PageWrapper: ScriptedPage {
  var page: Page { get }
}

extension PageWrapper {
  var report: RecoveryReport { page.report }
  var position: Position { page.position }
  func table() throws -> OrderedTable { try page.table() }
  func makeDurable() throws(LogStoreError) { try page.sync() }
  func compact(keeping retention: Retention) throws(LogStoreError) { try page.compact(keep: retention) }
  func recover() throws(LogStoreError) { try page.recover() }
  func suspend() throws(LogStoreError) { try page.suspend() }
  func resume() throws(LogStoreError) { try page.resume() }
  func close() throws(LogStoreError) { try page.close() }
}

/// A page whose batches are written in frames of a few bytes.
private final class DividedPage: PageWrapper {
  private static let partBytes = 48
  let page: Page

  init(_ page: Page) { self.page = page }

  func write(_ operations: [TableOperation], _ durability: Durability) throws(LogStoreError) {
    try page.write(WriteBatch(operations, partBytes: DividedPage.partBytes), durability: durability)
  }
}

/// A page that syncs by itself, after a few bytes: what it leaves to a thread of its own is done behind each write.
private final class SyncingPage: PageWrapper {
  private final class Due: Sendable { let work = Mutex<[@Sendable () -> Void]>([]) }

  let page: Page
  private let due: Due

  init(path: String, _ mode: OpenMode, _ options: PageOptions) throws(LogStoreError) {
    var options = options
    options.syncAfterBytes = 48
    let due = Due()
    self.due = due
    options.schedule = Schedule(start: { work in due.work.withLock { $0.append(work) } }, pause: {})
    page = try Page(path: path, mode: mode, options: options)
  }

  func write(_ operations: [TableOperation], _ durability: Durability) throws(LogStoreError) {
    defer {
      let work = due.work.withLock { due in
        defer { due = [] }
        return due
      }
      for one in work { one() }
    }
    try page.write(WriteBatch(operations), durability: durability)
  }
}
