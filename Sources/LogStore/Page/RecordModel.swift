/// The built-in state of a page: the ordered table of records.
///
/// Used under the lock of the page that owns it.
final class RecordModel: PageModel {
  private(set) var table = RecordTable(base: nil)
  private(set) var base: SnapshotBase?
  private let block = OperationBlock()
  private let startHelper: HelperStart?

  init(startHelper: HelperStart? = .system) { self.startHelper = startHelper }

  static var isApplication: Bool { false }
  var state: UInt32 { 0 }

  func rebase(onto base: SnapshotBase?) throws(LogStoreError) {
    if let reader = base?.reader, reader.header.state != 0 {
      throw LogStoreError.wrongState(reader.header.state, path: reader.path)
    }
    table = RecordTable(base: base)
    self.base = base
  }

  func replay(_ walk: inout JournalWalk, file: Int) throws(LogStoreError) {
    if walk.reader.header.state != 0 {
      throw LogStoreError.wrongState(walk.reader.header.state, path: walk.reader.path)
    }
    var sink = RecordSink(table, file: file, block: block, ahead: walk.bytesAhead, startHelper: startHelper)
    // What a replay left there that did not come to its end.
    block.removeAll()
    do throws(LogStoreError) {
      try walk.run(&sink)
      try sink.finish()
    } catch {
      // What was handed over stands in front of what failed, and so does its error.
      try sink.end()
      throw error
    }
    try sink.end()
  }
}

extension LogStoreError {
  static func wrongState(_ state: UInt32, path: String) -> LogStoreError {
    LogStoreError(
      .wrongState,
      state == 0
        ? "the page holds a table of records; open it as a Page"
        : "the page holds an application's own state (identifier \(state)); open it with that application", path: path)
  }
}
