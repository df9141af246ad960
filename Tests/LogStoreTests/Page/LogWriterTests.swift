import LogStoreTesting
import Testing

@testable import LogStore

@Suite struct LogWriterTests {
  @Test func aSyncThatFailsOnAJournalAlreadyLeftIsNoFailureOfTheNext() throws {
    let storage = SimulatedStorage(seed: 1)
    let directory = try storage.openDirectory("/page", create: true)
    let writer = LogWriter(
      starting: JournalStart(predecessor: nil, baseLSN: 0), lsn: 0, id: PageID(high: 1, low: 2), state: 0,
      directory: directory, storage: storage, level: .power)
    try writer.startIfPending()
    var batch = WriteBatch()
    try batch.put("value", for: "key")
    _ = try writer.commitAlone(batch.unsealed, .process, in: writer.usableJournal())
    let left = try #require(writer.journal)
    let (end, lsn) = (writer.end, writer.lsn)
    // Somebody is about to sync it beside the writers, and a compaction comes first: it syncs all and goes on elsewhere.
    _ = try writer.switchJournal()
    // The disk knows the file by the name that it was made under.
    storage.fail(Fault(.sync, .failedSync(cache: .old)) { $0.hasPrefix(left.name) })
    try writer.sync(.power, of: left, upTo: end, lsn: lsn)
    _ = try writer.commitAlone(batch.unsealed, .power, in: writer.usableJournal())
    #expect(writer.poison == nil)
  }
}
