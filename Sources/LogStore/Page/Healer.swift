/// Puts the state that a damaged snapshot was written from together once more, from the generation kept before it.
struct Healer {
  let path: String
  let options: PageOptions

  /// The snapshot as a base, with the way around its damage.
  func base(_ reader: SnapshotReader?, onHeal: (@Sendable (LogStoreError, Range<UInt64>?) -> Void)?) -> SnapshotBase? {
    guard let reader else { return nil }
    return SnapshotBase(reader, healer: self, onHeal: onHeal)
  }

  /// The records that the snapshot was written from.
  func view(behind reader: SnapshotReader) throws(LogStoreError) -> PageView {
    let model = RecordModel(startHelper: options.startHelper)
    let (result, base) = try rebuild(model, behind: reader)
    return PageView(
      table: model.table.view(), base: base, values: JournalValues(files: result.journals),
      position: Position(salt: reader.header.journalSalt, lsn: result.lsn))
  }

  /// Has a model take in, without the snapshot, the state that it was written from.
  @discardableResult
  func rebuild(
    _ model: any ReplayTarget, behind reader: SnapshotReader
  ) throws(LogStoreError) -> (Recovery.Result, SnapshotBase?) {
    let directory = try mapped { () throws(StorageError) in try options.storage.openDirectory(path, create: false) }
    defer { directory.close() }
    let files = try PageFiles(directory, cacheBytes: options.cacheBytes, startHelper: options.startHelper)
    var finder = ChainFinder(files, until: .now, ignoring: reader.header.generation)
    guard let (chain, successor) = try finder.findBehind(reader.header.generation),
      successor.header.salt == reader.header.journalSalt
    else {
      throw LogStoreError(.noBase, "no earlier generation is kept", path: path)
    }
    var recovery = Recovery(chain: chain, policy: .strict)
    recovery.successor = successor
    let base = base(chain.base, onHeal: nil)
    let result = try recovery.run(model, from: base)
    guard result.lsn == reader.header.lsn else {
      throw LogStoreError(.noBase, "the earlier generation does not lead to the snapshot", path: path)
    }
    return (result, base)
  }
}
