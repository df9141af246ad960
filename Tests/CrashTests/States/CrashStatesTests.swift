import LogStore
import Testing

@testable import LogStoreTesting

/// Small recordings, and exactly what each profile says that a crash may leave of them.
@Suite struct CrashStatesTests {
  // MARK: Bytes

  @Test func aByteThatWasNotSyncedIsThereOrNotOrGarbage() throws {
    func states(_ profile: CrashProfile) throws -> Set<[String: [UInt8]]> {
      try Toy.states(profile) { toy in
        let file = try toy.file("f")
        try toy.syncNames()
        try toy.write("A", to: file, at: 0)
      }
    }
    let strict = try states(.strict)
    let known: Set<[String: [UInt8]]> = [["f": []], ["f": [0x41]], ["f": [0]], ["f": [0xFF]]]
    #expect(strict.isSuperset(of: known))
    // And one random byte.
    #expect(strict.subtracting(known).map { $0["f"]?.count } == [1])
    #expect(try states(.writeback) == strict)
    #expect(try states(.ordered) == only("f", "", "A"))
    #expect(try states(.reorderedNames) == only("f", "", "A"))
    #expect(try states(.appleFsync) == only("f", "", "A", "\0"))
  }

  @Test func ofThreeBytesAnyMayHaveArrived() throws {
    let states = try Toy.states(.strict) { toy in
      let file = try toy.file("f")
      try toy.syncNames()
      try toy.write("abc", to: file, at: 0)
    }
    let data = Array("abc".utf8)
    let noise = try #require(
      states.compactMap { $0["f"] }.first {
        $0.count == 3 && !$0.contains { [0, 0xFF, 0x61, 0x62, 0x63].contains($0) }
      })
    var expected: Set<[String: [UInt8]]> = [["f": []], ["f": [0x61]], ["f": [0x61, 0x62]]]
    for arrived in 0..<8 {
      for garbage in [[0, 0, 0], [0xFF, 0xFF, 0xFF], noise] where arrived != 7 || garbage == noise {
        // Where the file has grown by all of them; noise is drawn from where it begins, which the first piece shifts.
        let bytes = (0..<3).map { arrived >> $0 & 1 == 1 ? data[$0] : garbage[$0] }
        expected.insert(["f": bytes])
      }
    }
    #expect(states == expected)
  }

  @Test func bytesInPlaceAreOldOrNew() throws {
    func states(_ profile: CrashProfile) throws -> Set<[String: [UInt8]]> {
      try Toy.states(profile) { toy in
        let file = try toy.file("f", "abcdef")
        try toy.syncNames()
        try toy.write("XYZ", to: file, at: 1)
      }
    }
    // Any of three pieces.
    #expect(
      try states(.strict)
        == only("f", "abcdef", "aXcdef", "abYdef", "abcZef", "aXYdef", "aXcZef", "abYZef", "aXYZef"))
    for profile in CrashProfile.allCases where profile != .strict {
      #expect(try states(profile) == only("f", "abcdef", "aXYZef"), "\(profile)")
    }
  }

  @Test func twoAppendsArriveInOrderOrInAny() throws {
    func states(_ profile: CrashProfile) throws -> Set<[String: [UInt8]]> {
      try Toy.states(profile) { toy in
        let file = try toy.file("f")
        try toy.syncNames()
        try toy.write("A", to: file, at: 0)
        try toy.write("B", to: file, at: 1)
      }
    }
    #expect(try states(.ordered) == only("f", "", "A", "AB"))
    #expect(try states(.reorderedNames) == only("f", "", "A", "AB"))
    #expect(try states(.appleFsync) == only("f", "", "A", "\0", "AB", "A\0", "AA", "\0B", "\0\0"))
    #expect(try states(.strict).isSuperset(of: states(.appleFsync)))
  }

  @Test func aSectorArrivesWhole() throws {
    let text = String(repeating: "x", count: 600)
    func states(_ profile: CrashProfile) throws -> Set<[String: [UInt8]]> {
      try Toy.states(profile) { toy in
        let file = try toy.file("f")
        try toy.syncNames()
        try toy.write(text, to: file, at: 0)
      }
    }
    func bytes(_ parts: (UInt8, Int)...) -> [String: [UInt8]] {
      ["f": parts.flatMap { [UInt8](repeating: $0.0, count: $0.1) }]
    }
    #expect(try states(.ordered) == [bytes(), bytes((0x78, 600))])
    #expect(
      try states(.appleFsync) == [
        bytes(), bytes((0x78, 600)), bytes((0, 600)), bytes((0x78, 512)), bytes((0x78, 512), (0, 88)),
        bytes((0, 512), (0x78, 88)),
      ])
    #expect(try states(.strict).isSuperset(of: states(.writeback)))
  }

  @Test func aNewFileMayShowTheFramesOfARemovedOne() throws {
    func states(_ profile: CrashProfile) throws -> Set<[String: [UInt8]]> {
      try Toy.states(profile) { toy in
        _ = try toy.file("old", "12345678")
        try toy.directory.remove("old")
        let file = try toy.file("f", "ab")
        try toy.syncNames()
        try toy.write("CD", to: file, at: 2)
      }
    }
    // What the removed file held at the same place; and, of the same file, the block before.
    for text in ["ab34", "abab", "ab"] { #expect(try states(.strict).isSuperset(of: only("f", text))) }
    #expect(try states(.ordered) == only("f", "ab", "abCD"))
    #expect(try states(.appleFsync) == only("f", "ab", "abCD", "ab\0\0", "ab34", "abab"))
  }

  // MARK: Failed syncs

  @Test(arguments: [Fault.Cache.old, .new])
  func whatAFailedSyncDroppedDoesNotComeBackWithTheNext(cache: Fault.Cache) throws {
    for profile in CrashProfile.allCases {
      let states = try Toy.states(profile) { toy in
        let file = try toy.file("f", "A")
        try toy.syncNames()
        try toy.write("B", to: file, at: 1)
        toy.storage.fail(Fault(.sync, .failedSync(cache: cache)))
        #expect(throws: StorageError.self) { try file.sync(.power) }
        // It says that it has worked.
        try file.sync(.power)
      }
      #expect(states == only("f", "A"), "\(profile)")
    }
  }

  @Test(arguments: Fault.Cache.allCases)
  func aNameThatAFailedSyncDroppedDoesNotComeWithTheNext(cache: Fault.Cache) throws {
    for profile in CrashProfile.allCases {
      let states = try Toy.states(profile) { toy in
        _ = try toy.file("a", "A")
        try toy.syncNames()
        _ = try toy.file("b", "B")
        try toy.directory.remove("a")
        toy.storage.fail(Fault(.syncDirectory, .failedSync(cache: cache)))
        #expect(throws: StorageError.self) { try toy.syncNames() }
        #expect(toy.storage.names(in: Toy.path) == (cache == .new ? ["b"] : ["a"]))
        // It says that it has worked.
        try toy.syncNames()
        // What changes from now on lasts.
        _ = try toy.file("c", "C")
        try toy.syncNames()
      }
      #expect(states == [["a": bytes("A"), "c": bytes("C")]], "\(profile)")
    }
  }

  @Test(arguments: Fault.Cache.allCases)
  func aDirectoryWhoseOwnNameAFailedSyncDroppedIsGoneWithThePower(cache: Fault.Cache) throws {
    let storage = SimulatedStorage(seed: 5)
    let directory = try storage.openDirectory("/d", create: true)
    storage.fail(Fault(.syncParent, .failedSync(cache: cache)))
    #expect(throws: StorageError.self) { try directory.syncParent(.power) }
    #expect(storage.names(in: "/") == (cache == .new ? ["d"] : []))
    try directory.syncParent(.power)
    #expect(storage.crash(.kill).names(in: "/") == (cache == .new ? ["d"] : []))
    #expect(storage.crash(.powerCut(.keepAll)).names(in: "/") == [])
  }

  @Test func behindAFailedSyncItsBytesMayShowAgain() throws {
    func states(_ profile: CrashProfile) throws -> Set<[String: [UInt8]]> {
      try Toy.states(profile) { toy in
        let file = try toy.file("f", "A")
        try toy.syncNames()
        try toy.write("B", to: file, at: 1)
        toy.storage.fail(Fault(.sync, .failedSync(cache: .new)))
        #expect(throws: StorageError.self) { try file.sync(.power) }
        try toy.write("C", to: file, at: 2)
      }
    }
    #expect(try states(.ordered) == only("f", "A", "A\0C"))
    // The hole is as uncertain as what was written behind it.
    #expect(try states(.appleFsync) == only("f", "A", "A\0C", "A\0\0", "ABA"))
    #expect(try states(.strict).isSuperset(of: only("f", "A", "A\0C", "A\0\0", "ABA", "ABC")))
    // Nothing, and the byte or not, behind zeros, ones, noise and what was lost.
    #expect(try states(.strict).count == 9)
  }

  // MARK: Names

  @Test func namesArriveInOrderOrInAny() throws {
    func states(_ profile: CrashProfile) throws -> Set<[String: [UInt8]]> {
      try Toy.states(profile) { toy in
        _ = try toy.directory.open("a", .createNew)
        _ = try toy.directory.open("b", .createNew)
      }
    }
    let (none, a, b, both): ([String: [UInt8]], [String: [UInt8]], [String: [UInt8]], [String: [UInt8]]) =
      ([:], ["a": []], ["b": []], ["a": [], "b": []])
    for profile in [CrashProfile.strict, .reorderedNames, .appleFsync] {
      #expect(try states(profile) == [none, a, b, both], "\(profile)")
    }
    for profile in [CrashProfile.ordered, .writeback] { #expect(try states(profile) == [none, a, both], "\(profile)") }
  }

  @Test func theSyncOfAFileForcesItsNameOnlyWhereItCommitsAll() throws {
    func states(_ profile: CrashProfile) throws -> Set<[String: [UInt8]]> {
      try Toy.states(profile) { toy in _ = try toy.file("f", "A") }
    }
    for profile in [CrashProfile.strict, .reorderedNames, .appleFsync] {
      #expect(try states(profile) == [[:], ["f": [0x41]]], "\(profile)")
    }
    // Here a missing sync of the directory does not show.
    for profile in [CrashProfile.ordered, .writeback] { #expect(try states(profile) == only("f", "A"), "\(profile)") }
  }

  @Test func aRenameMayArriveBeforeTheBytesOfItsFile() throws {
    func states(_ profile: CrashProfile) throws -> Set<[String: [UInt8]]> {
      try Toy.states(profile) { toy in
        let file = try toy.directory.open("tmp", .createNew)
        try toy.write("A", to: file, at: 0)
        try toy.directory.rename("tmp", to: "f")
        try toy.syncNames()
      }
    }
    #expect(try states(.ordered) == only("f", "", "A"))
    #expect(try states(.reorderedNames) == only("f", "", "A"))
    #expect(try states(.appleFsync) == only("f", "", "A", "\0"))
    #expect(try states(.strict).isSuperset(of: only("f", "", "A", "\0")))
    #expect(try states(.strict).count == 5)
  }

  @Test func aRenameIsAtomicAndNotDurable() throws {
    func states(_ profile: CrashProfile) throws -> Set<[String: [UInt8]]> {
      try Toy.states(profile) { toy in
        _ = try toy.file("tmp", "A")
        try toy.directory.rename("tmp", to: "f")
      }
    }
    for profile in [CrashProfile.strict, .reorderedNames, .appleFsync] {
      #expect(try states(profile) == only("tmp", "A").union(only("f", "A")).union([[:]]), "\(profile)")
    }
    for profile in [CrashProfile.ordered, .writeback] {
      #expect(try states(profile) == only("tmp", "A").union(only("f", "A")), "\(profile)")
    }
  }

  // MARK: Barriers

  @Test func whatWasMadeBehindABarrierIsNeverThereWithoutWhatStandsBeforeIt() throws {
    func states(_ profile: CrashProfile, flushed: Bool = false) throws -> Set<[String: [UInt8]]> {
      try Toy.states(profile) { toy in
        let (first, second, third) = (try toy.file("f"), try toy.file("g"), try toy.file("h"))
        try toy.syncNames()
        try toy.write("A", to: first, at: 0)
        try first.sync(.ordered)
        try toy.write("B", to: second, at: 0)
        if flushed { try third.sync(.power) }
      }
    }
    func pair(_ f: String, _ g: String) -> [String: [UInt8]] { ["f": Array(f.utf8), "g": Array(g.utf8), "h": []] }
    #expect(
      try states(.appleFsync) == [pair("", ""), pair("A", ""), pair("\0", ""), pair("A", "B"), pair("A", "\0")])
    #expect(try states(.strict).allSatisfy { $0["g"] == [] || $0["f"] == [0x41] })
    #expect(try states(.strict).isSuperset(of: states(.appleFsync)))
    // On Linux it is a sync like any other.
    #expect(try states(.ordered) == [pair("A", ""), pair("A", "B")])
    // A full sync of whatever file empties the drive's cache; the system's keeps what it has.
    #expect(try states(.appleFsync, flushed: true) == [pair("A", ""), pair("A", "B"), pair("A", "\0")])
  }
}
