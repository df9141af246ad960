extension RecordModel: CompactableModel {
  static func image(_ state: Materialized<RecordModel>) -> PageView { state.recordView }

  static func records(in image: PageView) -> UInt64 { UInt64(image.count) }

  static func write(_ image: PageView, to writer: SnapshotWriter, progress: (UInt64) throws -> Void) throws {
    var done: UInt64 = 0
    var reported: UInt64 = 0
    try image.forEach { key, value in
      try writer.append(key: key, value: value)
      done += UInt64(key.byteCount + value.byteCount)
      if done - reported >= 4 << 20 {
        reported = done
        try progress(done)
      }
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
