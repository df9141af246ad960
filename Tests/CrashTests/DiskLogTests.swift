import LogStore
import LogStoreTesting
import Testing

@testable import CrashHarness

/// A disk's log, and the states that it is cut into.
@Suite struct DiskLogTests {
  private static func bytes(_ value: UInt8, _ count: Int) -> [UInt8] { [UInt8](repeating: value, count: count) }

  private let log = DiskLog([
    .write(offset: 0, bytes(1, 4096)), .mark([0, 1]), .flush, .mark([0, 3]), .write(offset: 4096, bytes(2, 2048)),
    .write(offset: 512, bytes(3, 512)), .mark([1, 2]), .write(offset: 8192, bytes(4, 4096)), .flush,
  ])

  @Test func aLogIsReadAsItWasWritten() {
    let bytes = log.entries.flatMap(DiskLog.encode)
    #expect(DiskLog(bytes) == log)
    // The server may be stopped in the middle of an entry.
    #expect(DiskLog(Array(bytes.dropLast()))?.entries == log.entries.dropLast())
    #expect(DiskLog([9] + bytes) == nil)
  }

  @Test func aFlushSettlesWhatIsBeforeIt() {
    #expect(log.settled(before: 2) == 0)
    #expect(log.settled(before: 3) == 3)
    #expect(log.settled(before: 8) == 3)
    #expect(log.settled(before: 9) == 9)
    #expect(log.marks(before: 4) == [[0, 1], [0, 3]])
    #expect(log.marks(before: 0).isEmpty)
  }

  @Test func fatesThatAreNamedKeepAllOrNothing() {
    #expect(DiskState(end: 8, fate: .none).patches(log, unit: 512).isEmpty)
    let all = DiskState(end: 7, fate: .all).patches(log, unit: 512)
    #expect(all.map(\.offset) == [4096, 512])
    #expect(DiskState(end: 9, fate: .all).patches(log, unit: 512).isEmpty)
  }

  @Test func seededFatesKeepSomeWritesAndWholeSectorsOfOthers() {
    var seen: Set<[UInt64]> = []
    var torn = false
    for seed in 0..<200 as Range<UInt64> {
      let state = DiskState(end: 8, fate: .seeded(seed))
      let patches = state.patches(log, unit: 512)
      #expect(patches == state.patches(log, unit: 512))
      for patch in patches {
        #expect(patch.offset % 512 == 0 && patch.bytes.count % 512 == 0)
        let value: UInt8 = patch.offset >= 8192 ? 4 : patch.offset >= 4096 ? 2 : 3
        #expect(patch.bytes.allSatisfy { $0 == value })
      }
      torn = torn || patches.contains { $0.offset >= 8192 && $0.bytes.count == 512 }
      seen.insert(patches.map(\.offset))
    }
    #expect(seen.contains([]) && seen.contains([4096, 512, 8192]) && seen.contains([512]))
    #expect(torn)
  }

  @Test func aStateIsReadAsItIsNamed() {
    for state in [DiskState(end: 3, fate: .all), DiskState(end: 0, fate: .none), DiskState(end: 7, fate: .seeded(42))] {
      #expect(DiskState("\(state)") == state)
    }
    for text in ["", "3", "3/some", "-1/all", "x/none"] { #expect(DiskState(text) == nil) }
  }

  @Test func anImageBecomesAnotherAndTakesPatches() throws {
    let folder = TemporaryFolder(in: "/dev/shm")
    let (one, two) = (folder.path + "/one", folder.path + "/two")
    TemporaryFolder.write(Self.bytes(0, 65_536), to: one)
    TemporaryFolder.write(Self.bytes(7, 65_536), to: two)
    let (first, second) = (try DiskImage(one), try DiskImage(two))
    first.apply(log, 0..<log.entries.count)
    second.become(first)
    var expected = Self.bytes(0, 65_536)
    expected.replaceSubrange(0..<4096, with: Self.bytes(1, 4096))
    expected.replaceSubrange(4096..<6144, with: Self.bytes(2, 2048))
    expected.replaceSubrange(512..<1024, with: Self.bytes(3, 512))
    expected.replaceSubrange(8192..<12_288, with: Self.bytes(4, 4096))
    #expect(TemporaryFolder.read(two) == expected)
    // Beyond its end a disk has nothing.
    second.apply(DiskState.Patch(offset: 65_000, bytes: Self.bytes(9, 1000)[...]))
    #expect(TemporaryFolder.read(two) == expected)
  }

  @Test func gapsAreWhatOthersLeave() {
    #expect(DiskImage.gaps(of: [0..<10, 20..<30], in: [2..<4, 8..<22, 28..<40]) == [0..<2, 4..<8, 22..<28])
    #expect(DiskImage.gaps(of: [0..<10], in: []) == [0..<10])
    #expect(DiskImage.gaps(of: [3..<5], in: [0..<10]).isEmpty)
  }
}
