import LogStore
import LogStoreTesting
import Testing

@testable import CrashHarness

/// A disk that looks as it did before hands out other random bytes all the same.
@Suite struct SaltTests {
  @Test func aCrashThatLeavesNothingOfASessionBringsNoSaltBack() throws {
    // Had a journal the salt of one that is gone, the lost one's frames would verify in it, where the crash exposes the bytes
    // of a removed file.
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
