/// A model that reads everything and keeps nothing: for whoever only wants the verdict.
final class BlindModel: ReplayTarget {
  func rebase(onto base: SnapshotBase?) throws(LogStoreError) {}
  func replay(_ walk: inout JournalWalk, file: Int) throws(LogStoreError) {
    var sink = BlindSink()
    try walk.run(&sink)
  }
}

struct BlindSink: JournalSink {
  mutating func take(_ frame: JournalFrame) throws(LogStoreError) {}
  mutating func commit(_ batch: ReplayedBatch) throws(LogStoreError) -> Bool { true }
  mutating func abandon() {}
}
