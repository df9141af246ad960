extension RecordModel: CompactableModel {
  static func image(_ state: Materialized<RecordModel>) -> PageView { state.recordView }

  static func records(in image: PageView) -> UInt64 { UInt64(image.count) }

  static func write(_ image: PageView, to writer: SnapshotWriter, progress: (UInt64) throws -> Void) throws {
    var done: UInt64 = 0
    var reported: UInt64 = 0
    func note(_ bytes: Int) throws {
      done += UInt64(bytes)
      if done - reported >= 4 << 20 {
        reported = done
        try progress(done)
      }
    }
    try image.sweep(0..<image.count) { deflated, records, count in
      guard try writer.append(block: deflated, records: records, count: count) else { return false }
      try note(records.byteCount - count * SnapshotLayout.blockRecordHeadBytes)
      return true
    } _: { key, value in
      try writer.append(key: key, value: value)
      try note(key.byteCount + value.byteCount)
      return true
    }
  }

  /// From the sizes of all live records.
  static func estimatedBytes(_ image: PageView) throws(LogStoreError) -> UInt64 {
    var bytes = UInt64(Limits.headerBytes + SnapshotLayout.footerFrameBytes)
    do {
      try image.forEach { key, value in
        bytes += UInt64(Limits.frameOverhead + 2 + key.byteCount + value.byteCount + 12 + 11)
        return true
      }
    } catch {
      throw LogStoreError.own(error, "the page cannot be read")
    }
    return bytes
  }
}
