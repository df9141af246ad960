import LogStore
import LogStoreTesting
import Testing

@testable import CrashHarness

/// Random scripts, with a crash after every call: what design section 9 promises, against a plain table.
///
/// A failure prints the seed; `LOGSTORE_SEED` runs one seed, `LOGSTORE_SEEDS` so many more.
@Suite struct ExplorationTests {
  @Test(arguments: Seeds.some(1..<31))
  func everyCrashOfARandomScriptLeavesAPrefixWithAllThatWasAcknowledged(seed: UInt64) {
    var exploration = Exploration(Script(seed: seed, steps: 4 + Int(seed % 6)), seed: seed)
    let problem = exploration.run()
    #expect(problem == nil, "\(problem ?? "")")
    #expect(exploration.states > 20)
  }

  @Test(arguments: Seeds.some(1001..<1011))
  func aCrashDuringARecoveryOrACompactionLeavesNoLess(seed: UInt64) {
    var exploration = Exploration(Script(seed: seed, steps: 5), seed: seed, fates: 1, nested: 8)
    let problem = exploration.run()
    #expect(problem == nil, "\(problem ?? "")")
  }
}
