/// Tables, footer, sync, and reading everything back.
extension SnapshotWriter {
  /// Completes the file under its temporary name and returns its size. On return it is durable (its name is not) and
  /// every byte was read back from the medium, as far as the system lets that be asked for: most of them beside the
  /// writing, so what has rotted since then is left for later readers to find. Renaming is the caller's.
  func finish(progress: ProgressHandler? = nil) throws(LogStoreError) -> UInt64 {
    guard state == .writing else {
      throw LogStoreError(.closed, "the snapshot's writer is not in a state to finish", path: temporaryName)
    }
    let footer: SnapshotFooter
    do throws(StorageError) {
      footer = try complete()
    } catch {
      state = .failed
      throw LogStoreError(error)
    }
    removeSpool()
    state = .failed
    try readBack.finish(footer, size: output.offset, progress: progress)
    output.close()
    state = .finished
    return output.offset
  }

  private func complete() throws(StorageError) -> SnapshotFooter {
    try closeBlock()
    let footer = try writeTables()
    try output.flush()
    try output.file.sync(settings.durability)
    return footer
  }

  private func writeTables() throws(StorageError) -> SnapshotFooter {
    let orderOffset = output.offset
    try order.write(to: output, codec: codec, spool: spool)
    order = OrderTableWriter()
    let keysOffset = output.offset
    try keys.write(to: output, codec: codec, spool: spool)
    let isTable = header.state == 0
    let footer = SnapshotFooter(
      lsn: header.lsn, count: isTable ? keys.count : frames, recordsOffset: recordsOffset, orderOffset: orderOffset,
      keysOffset: keysOffset, buckets: isTable ? SnapshotLayout.buckets(count: keys.count) : 0,
      checksum: output.sum())
    footer.append(frameTo: output.buffer, at: output.offset, codec)
    return footer
  }
}
