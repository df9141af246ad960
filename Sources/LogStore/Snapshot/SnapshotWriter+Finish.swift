/// Tables, footer, sync, and reading everything back.
extension SnapshotWriter {
  /// Completes the file under its temporary name and returns its size. On return it is durable (its name is not) and
  /// was read back from the medium, as far as the system lets that be asked for. Renaming is the caller's.
  func finish(progress: ProgressHandler? = nil) throws(LogStoreError) -> UInt64 {
    guard state == .writing else {
      throw LogStoreError(.closed, "the snapshot's writer is not in a state to finish", path: temporaryName)
    }
    var footer: SnapshotFooter?
    try attempt { () throws(StorageError) in
      try closeBlock()
      footer = try writeTables()
      try output.flush()
      try output.file.sync(settings.durability)
    }
    removeSpool()
    state = .failed
    try readBack(footer, progress)
    output.file.close()
    state = .finished
    return output.offset
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
    let start = output.buffer.openFrame()
    footer.append(to: output.buffer)
    output.buffer.sealFrame(start, FrameType(.footer), offset: output.offset(of: start), codec: codec)
    return footer
  }

  private func readBack(_ footer: SnapshotFooter?, _ progress: ProgressHandler?) throws(LogStoreError) {
    output.file.dropCache()
    let reader = try SnapshotReader(
      file: output.file, name: temporaryName, path: directory.path(of: temporaryName),
      generation: header.generation, cacheBytes: 0)
    var verifier = SnapshotVerifier(reader, phase: .checking, checksKeys: false, progress: progress)
    let findings = try verifier.run()
    guard findings.isEmpty, reader.header == header, reader.footer == footer, reader.size == output.offset else {
      let first = findings.first
      throw LogStoreError(
        .damaged, "the snapshot did not read back as it was written; the page goes on as it was; check the medium",
        path: reader.path, offset: first?.range?.lowerBound)
    }
  }
}
