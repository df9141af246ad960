import LogStore
import LogStoreTesting
import Testing

@testable import CrashHarness

/// A disk that looks as it did before hands out other random bytes all the same.
@Suite struct SaltTests {
  @Test func aCrashThatLeavesNothingOfASessionBringsNoSaltBack() throws {
    // In the second session a write is lost with the power; the third writes to a journal of the same number. Had it the
    // same salt, the lost one's frames would verify in it, where the crash exposes the bytes of a removed file.
    let subject = try #require(
      CrashCase(
        "records absent 1 1:0 compact previous|strict.12.s9|records absent 1 1:0 failed-sync old p+n1=4.7;0 close|"
          + "strict.8.g3|records absent 1 1:0 reopen;0 power p+n1=4.6;0 close|strict.8.s5"))
    #expect(try Replay().run(subject) == nil)
    let storage = SimulatedStorage(seed: 1)
    storage.recordMoments()
    try Page.open(storage).put("one", for: "a")
    let extent = CrashExtent(exhaustive: 64, samples: 4)
    let states = storage.moments.indices.flatMap {
      Array(storage.crashStates(at: $0, under: .strict, extent: extent))
    }
    #expect(states.count > 3)
    var salts: [UInt64: Set<UInt64>] = [:]
    for state in states { salts[state.hash, default: []].insert(state.storage().random()) }
    // Several of these moments may leave the very same disk.
    #expect(salts.values.contains { $0.count > 1 })
    #expect(Set(states.map { $0.storage().random() }).count > 3)
  }
}
