internal import Synchronization

extension PageCore where Model == RecordModel {
  /// Up to here a value is put together in the writer's own memory, which it keeps.
  private static let largestDirectValue = 64 << 10

  /// One put. Where nobody else is writing it goes straight into the writer's group, without a batch.
  func put(_ value: RawSpan, for key: RawSpan, _ durability: Durability?) throws(LogStoreError) -> Position {
    try checkWritable()
    try BatchFrames.check(key: key.byteCount)
    guard value.byteCount <= Self.largestDirectValue, queue.tryClaim() else {
      var batch = WriteBatch()
      try batch.put(span: value, forSpan: key)
      return try write(batch, durability, nil)
    }
    defer { queue.release() }
    let wanted = durability ?? options.durability
    return try commitAlone(wanted, nil) { writer, journal in
      writer.commitAlone(value, for: key, wanted, in: journal)
    }
  }

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
