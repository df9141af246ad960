import LogStoreTesting
import Testing

@testable import LogStore

/// What is damaged often costs as much more, and not the square of it. Work is counted, not timed.
@Suite struct ManyFaultsTests {
  /// A page of `count` journals, one operation each; every second one has lost its header.
  private func page(journals count: Int) -> SimulatedStorage {
    let storage = SimulatedStorage(seed: 1)
    storage.makeDirectory(JournalFixture.directory)
    var before: JournalFixture?
    for number in 0..<count {
      let journal = JournalFixture(
        UInt64(number), baseLSN: UInt64(number),
        after: before.map { .init(generation: $0.header.generation, salt: $0.header.salt, end: $0.end) })
      journal.mark(UInt64(number), durableEnd: 128)
      journal.put("key \(number)")
      var bytes = journal.bytes
      if number % 2 == 1, number < count - 1 { bytes[60] ^= 1 }
      storage.place(bytes, at: journal.path)
      before = journal
    }
    return storage
  }

  private func calls(journals count: Int) throws -> Int {
    let storage = page(journals: count)
    storage.forgetCalls()
    let page = try Page.fixture(storage, .readOnly)
    #expect(page.report.findings.filter { $0.kind == .damagedHeader }.count == (count - 1) / 2)
    #expect(try page.view().count == count)
    return storage.calls.count
  }

  @Test func lostHeadersCostWhatTheyAre() throws {
    let (few, many) = (try calls(journals: 21), try calls(journals: 201))
    #expect(many <= 10 * few)
  }

  /// Journals that the state does not need, each of which might name losses of each other.
  @Test func manyJournalsAreVerifiedForWhatTheyAre() throws {
    func calls(_ count: Int) throws -> Int {
      let storage = SimulatedStorage(seed: 1)
      storage.makeDirectory(JournalFixture.directory)
      for number in 0..<count {
        let journal = JournalFixture(UInt64(number))
        journal.put("key")
        storage.place(journal.bytes, at: journal.path)
      }
      storage.forgetCalls()
      let report = try PageInspector(path: JournalFixture.directory, storage: storage).verify()
      #expect(report.files == count)
      return storage.calls.count
    }
    let (few, many) = (try calls(20), try calls(200))
    // The newest, which the state needs, is opened only once: so ten times as many cost a little more than tenfold.
    #expect(many <= 11 * few)
  }

  @Test func witnessesAreTheJournalsOfThePageThatVerify() throws {
    let storage = page(journals: 5)
    let other = JournalFixture(7)
    storage.place(other.bytes, at: other.path)
    let directory = try storage.openDirectory(JournalFixture.directory, create: false)
    let files = try PageFiles(directory, cacheBytes: 0)
    let witnesses = try HeaderWitnesses(files, of: JournalFixture.id)
    #expect(witnesses.salts == [100, 102, 104, 107])
    #expect(witnesses.successors.mapValues(\.generation) == [1: 2, 3: 4])
    #expect(witnesses.highest(below: 0) == nil)
    #expect(witnesses.highest(below: 4)?.generation == 2)
    #expect(witnesses.highest(below: 5)?.generation == 4)
    #expect(try HeaderWitnesses(files, of: PageID(high: 1, low: 1)).successors.isEmpty)
  }
}
