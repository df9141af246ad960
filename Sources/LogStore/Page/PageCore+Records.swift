internal import Synchronization

extension PageCore where Model == RecordModel {
  /// The state as it is now. What was written since the last look is taken in first.
  func view() throws(LogStoreError) -> PageView {
    try checkOpen()
    return try materialized.withLock { (state) throws(LogStoreError) in
      try state.catchUp(log.withLock { $0 })
      return state.recordView
    }
  }
}

extension Materialized where Model == RecordModel {
  var recordView: PageView {
    PageView(table: model.table.view(), base: base, values: JournalValues(files: files), position: position)
  }
}
