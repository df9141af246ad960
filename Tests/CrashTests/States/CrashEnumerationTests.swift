import LogStore
import LogStoreTesting
import Testing

@testable import CrashHarness

/// How states are enumerated, named and made again.
@Suite struct CrashEnumerationTests {
  private func names(_ count: Int) throws -> SimulatedStorage {
    let toy = try Toy()
    for number in 0..<count { _ = try toy.directory.open("f\(number)", .createNew) }
    toy.storage.recordMoments()
    return toy.storage
  }

  private func all(_ states: CrashStates) -> [CrashState] { Array(states) }

  @Test func exhaustiveMeansEveryChoice() throws {
    let states = try names(14).crashStates(at: 0)
    #expect(states.isExhaustive)
    #expect(Set(states.map { Set(Toy.shown($0.storage()).keys) }).count == 1 << 14)
  }

  @Test func beyondItEveryPrefixAndAllButOneOrTwo() throws {
    let storage = try names(15)
    let states = storage.crashStates(at: 0, extent: CrashExtent(samples: 0))
    #expect(!states.isExhaustive)
    let shown = Set(states.map { Set(Toy.shown($0.storage()).keys) })
    let whole = (0..<15).map { "f\($0)" }
    var expected: Set<Set<String>> = []
    for first in 0..<15 {
      expected.insert(Set(whole[..<first]))
      for second in first..<15 { expected.insert(Set(whole).subtracting([whole[first], whole[second]])) }
    }
    expected.insert(Set(whole))
    #expect(shown == expected)
    // Where names arrive in order, there are only so many.
    #expect(Array(storage.crashStates(at: 0, under: .ordered)).count == 16)
  }

  @Test func strictAllowsAllThatOthersDo() throws {
    let pieces = try Toy()
    pieces.storage.recordMoments()
    let file = try pieces.file("f", "abcde")
    try pieces.syncNames()
    try pieces.write(String(repeating: "x", count: 600), to: file, at: 3)
    try pieces.directory.rename("f", to: "g")
    try pieces.directory.remove("g")
    try compareAll(pieces.storage)

    let syncs = try Toy()
    syncs.storage.recordMoments()
    let (first, second) = (try syncs.file("f", "a"), try syncs.directory.open("tmp", .createNew))
    try syncs.write("12", to: second, at: 0)
    try second.sync(.ordered)
    try syncs.directory.rename("tmp", to: "g")
    try syncs.write("4", to: second, at: 2)
    try syncs.write("b", to: first, at: 1)
    syncs.storage.fail(Fault(.sync, .failedSync(cache: .new)))
    #expect(throws: StorageError.self) { try first.sync(.power) }
    try syncs.write("c", to: first, at: 2)
    try compareAll(syncs.storage)
  }

  private func compareAll(_ storage: SimulatedStorage) throws {
    var compared: [CrashProfile: Int] = [:]
    for moment in storage.moments.indices {
      let extent = CrashExtent(exhaustive: 1 << 16, samples: 0)
      let strict = storage.crashStates(at: moment, under: .strict, extent: extent)
      #expect(strict.isExhaustive)
      let allowed = Set(strict.map(\.hash))
      for profile in CrashProfile.allCases {
        for state in storage.crashStates(at: moment, under: profile, extent: extent) {
          compared[profile, default: 0] += 1
          if !allowed.contains(state.hash) { Issue.record("only \(state.identity)") }
        }
      }
    }
    #expect(CrashProfile.allCases.allSatisfy { compared[$0, default: 0] > 15 })
  }

  @Test(arguments: CrashProfile.allCases)
  func everyStateIsMadeAgainFromItsIdentity(profile: CrashProfile) throws {
    let storage = try recording()
    var kinds: Set<Character> = []
    for moment in storage.moments.indices {
      for state in storage.crashStates(at: moment, under: profile, extent: CrashExtent(exhaustive: 64, samples: 8)) {
        let kind = try #require(state.identity.split(separator: ".")[2].first)
        // One of each kind at each moment, and all that are drawn.
        guard kinds.insert(kind).inserted || "rl".contains(kind) else { continue }
        let again = try #require(storage.crashState(state.identity))
        #expect(again.hash == state.hash && again.identity == state.identity)
        #expect(again.storage().files(in: pagePath) == state.storage().files(in: pagePath))
      }
    }
    // Where bytes arrive in order, all choices are few.
    #expect(kinds.contains("r") || profile == .ordered || profile == .reorderedNames)
    for unknown in ["", "strict", "strict.0", "strict.9999.b0", "strict.0.b99", "kill.-1", "x.0.b0", "strict.0.r1"] {
      #expect(storage.crashState(unknown) == nil, "\(unknown)")
    }
  }

  @Test func theSeedDecidesWhatIsDrawn() throws {
    func drawn(_ seed: UInt64) throws -> [UInt64] {
      let storage = try recording()
      return storage.moments.indices.flatMap { moment in
        storage.crashStates(at: moment, extent: CrashExtent(exhaustive: 16, samples: 20, seed: seed)).map(\.hash)
      }
    }
    #expect(try drawn(1) == drawn(1))
    #expect(try drawn(1) != drawn(2))
  }

  @Test func aKillLeavesTheCacheAndNoMoreOnTheMedium() throws {
    let toy = try Toy()
    let file = try toy.file("f", "A")
    try toy.syncNames()
    try toy.write("B", to: file, at: 1)
    toy.storage.recordMoments()
    let state = toy.storage.killState(at: 0)
    #expect(Toy.text(state.storage(), "f") == "AB")
    #expect(state.storage().durableContents(of: "/d/f") == Array("A".utf8))
    #expect(toy.storage.crashState(state.identity)?.hash == state.hash)
  }

  /// Whether `work` on a file that shows "AB" leaves a kill state that is told apart from the one after "B" was appended
  /// and put behind a barrier, and whether a power cut may then leave other states.
  private func comparedToABarrier(_ work: (Toy, any StorageFile) throws -> Void) throws -> (isTold: Bool, differs: Bool)
  {
    func outcome(_ work: (Toy, any StorageFile) throws -> Void) throws -> (UInt64, Set<[String: [UInt8]]>) {
      let toy = try Toy()
      let file = try toy.file("f", "A")
      try toy.syncNames()
      try work(toy, file)
      toy.storage.recordMoments()
      let state = toy.storage.killState(at: 0)
      let storage = state.storage()
      storage.recordMoments()
      return (state.hash, Set(storage.crashStates(at: 0).map { Toy.shown($0.storage()) }))
    }
    let barrier = try outcome { toy, file in
      try toy.write("B", to: file, at: 1)
      try file.sync(.ordered)
    }
    let other = try outcome(work)
    return (barrier.0 != other.0, barrier.1 != other.1)
  }

  @Test func whatIsInTheDrivesCacheTellsKillStatesApart() throws {
    // Shown alike and on the medium alike; but this cannot be lost any more.
    let synced = try comparedToABarrier { toy, file in
      try toy.write("B", to: file, at: 1)
      try file.sync(.power)
    }
    #expect(synced.isTold && synced.differs)
    // In two writes, of which one may be lost.
    let twice = try comparedToABarrier { toy, file in
      try toy.write("C", to: file, at: 1)
      try toy.write("B", to: file, at: 1)
      try file.sync(.ordered)
    }
    #expect(twice.isTold && twice.differs)
    // With another barrier between: the drive is asked once more for nothing.
    let again = try comparedToABarrier { toy, file in
      try toy.write("B", to: file, at: 1)
      try file.sync(.ordered)
      try file.sync(.ordered)
    }
    #expect(!again.isTold && !again.differs)
  }

  /// A page's life.
  private func recording() throws -> SimulatedStorage {
    let storage = SimulatedStorage(seed: 9)
    storage.recordMoments()
    let page = try Page.open(storage)
    for number in 0..<4 {
      try page.write(WriteBatch([.put(Array("k\(number)".utf8), Array("value".utf8))]), durability: .process)
    }
    try page.compact(keep: Retention.none)
    try page.close()
    return storage
  }
}
