import LogStoreTesting
import Testing

@testable import LogStore

/// Frames and headers whose checksum is right and whose content is not.
@Suite struct JournalFormTests {
  private static let long = [UInt8](repeating: 7, count: Limits.keyBytes + 1)

  @Test(arguments: [
    (FrameKind.put, [1, 0]), (.put, [0, 0, 9]), (.put, [2, 0, 9]), (.putBefore, [1, 0, 1, 0]),
    (.putBefore, [0, 0, 1, 0, 9]), (.putBefore, [1, 0, 1, 0, 9]), (.remove, []), (.remove, long),
    (.move, [1, 0, 0, 0]),
    (.move, [1, 0, 0, 0, 9, 9]), (.move, [1, 0, 1, 0, 9]), (.move, [0, 0, 1, 0, 9]), (.move, [1, 4, 0, 0] + long),
    (.move, [1, 0, 1, 4, 9] + long), (.clear, [1]), (.mark, [1, 2, 3]), (.loss, [1, 2, 3]),
    (.record, [1, 0, 9]), (.footer, []),
  ])
  func aPayloadThatIsNotItsKindsIsNoFrame(kind: FrameKind, payload: [UInt8]) throws {
    let journal = JournalFixture()
    let place = journal.put("first")
    let bad = journal.add(kind, payload)
    journal.put("last")
    let reader = try reader(journal)
    #expect(try reader.frame(at: place) != nil)
    #expect(try reader.frame(at: bad) == nil)
  }

  private static let loss: [UInt8] = {
    let payload = ByteBuffer()
    LossRecord(generation: 256, salt: 1, start: 128, end: 140, lsn: 1, count: 1).append(to: payload)
    return payload.lend(0..<payload.count) { $0.array }
  }()

  /// A loss stands alone, and only a frame of its kind is one, whatever another's payload looks like.
  @Test(arguments: [
    (FrameKind.loss, true, true, true), (.loss, false, true, false), (.loss, true, false, false),
    (.part, true, false, false), (FrameKind(rawValue: 40), true, true, false),
  ])
  func onlyAWholeFrameOfItsKindIsALoss(kind: FrameKind, first: Bool, last: Bool, isLoss: Bool) throws {
    let journal = JournalFixture()
    let place = journal.add(kind, JournalFormTests.loss, first: first, last: last)
    let reader = try reader(journal)
    // A frame lies in the window of its reader.
    try withExtendedLifetime(reader) {
      let frame = try reader.frame(at: place)
      #expect((frame == nil) == (kind == .loss && !isLoss))
      #expect((frame?.loss != nil) == isLoss)
    }
  }

  @Test func whatHadVerifiedAndNoLongerDoesIsAnErrorWithItsPlace() throws {
    let journal = JournalFixture()
    let reader = try reader(journal)
    let error = #expect(throws: LogStoreError.self) { try reader.frame(againAt: journal.end) }
    #expect(error?.code == .io && error?.offset == journal.end)
  }

  /// It verifies by itself, so it is what a search comes to first; and it is no place to go on from.
  @Test func aMalformedFrameIsPassedOverInTheSearchBehindDamage() throws {
    let journal = JournalFixture()
    journal.put("a")
    let damaged = journal.put("b")
    journal.add(.remove, [])
    journal.put("c")
    journal.put("d")
    journal.mark(4, durableEnd: journal.end)
    let storage = JournalFixture.storage(journal)
    storage.edit(journal.path) { $0[Int(damaged)] ^= 1 }
    #expect(try Page.fixture(storage).keys() == ["a", "c", "d"])
  }

  @Test func aHeaderThatContradictsItselfIsNone() {
    let whole = JournalFixture(3, after: .init(generation: 2, salt: 5, end: 128)).header
    func isRead(_ change: (inout JournalHeader) -> Void) -> Bool {
      var header = whole
      change(&header)
      let buffer = ByteBuffer()
      header.append(to: buffer)
      return unsafe JournalHeader(buffer.bytes, generation: 3) == header
    }
    #expect(isRead { _ in })
    #expect(isRead { $0.predecessor?.end = 0 })
    #expect(!isRead { $0.predecessor?.end = 127 })
    #expect(!isRead { $0.predecessor?.generation = 3 })
    #expect(!isRead { $0.generation = 4 })
    #expect(!isRead { $0.initialLength = 127 })
    #expect(!isRead { $0.baseLSN = Limits.lsn + 1 })
  }

  private func reader(_ journal: JournalFixture) throws -> JournalReader {
    JournalReader(
      file: MemoryFile(journal.name, journal.bytes), name: journal.name, path: journal.path, header: journal.header,
      limit: journal.end)
  }
}
