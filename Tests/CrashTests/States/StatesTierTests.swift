import LogStore
import LogStoreTesting
import Testing

@testable import CrashHarness

/// Tier 0, a little of each of its parts: what must hold after every crash (design section 9), in every state.
///
/// A failure prints the line that replays it; `LOGSTORE_SEED` runs another seed.
@Suite struct StatesTierTests {
  /// So many jobs of a part, and fewer states than that must not be seen.
  static let slices: [(part: Part, jobs: Int, states: Int)] = [
    (.sequences, 10, 600), (.pairs, 4, 200), (.ownState, 4, 100), (.longer, 1, 40), (.random, 1, 150),
    (.nested, 2, 200), (.interleaved, 8, 40),
  ]

  @Test(arguments: slices.indices) func everyStateThatACrashMayLeaveKeepsWhatWasPromised(slice: Int) throws {
    var (part, jobs, states) = StatesTierTests.slices[slice]
    part.sample = jobs
    var tier = StatesTier()
    tier.parts = [part]
    let tally = Tally()
    try tier.run(Plan(.ci, seed: Seeds.some(1..<2)[0], workers: 2), tally)
    #expect(tally.violations.isEmpty, "\(part.name): \(tally.violations.map { "\($0.what)\n  \($0.replay ?? "")" })")
    #expect(tally.rows.reduce(0) { $0 + ($1.distinct ?? 0) } > states)
  }

  @Test func aSeedMakesOneWorkerCountTheSameAgain() throws {
    func counts() throws -> [String] {
      var tier = StatesTier()
      tier.parts = [Part.interleaved].map { part in
        var part = part
        part.sample = 5
        return part
      }
      let tally = Tally()
      try tier.run(Plan(.ci, seed: 3, workers: 1), tally)
      #expect(tally.violations.isEmpty)
      return tally.rows.map { "\($0.name): \($0.states), \($0.distinct ?? 0) distinct" }
    }
    let first = try counts()
    #expect(try counts() == first)
    #expect(!first.isEmpty)
  }

  @Test func aPartsJobsAreSpreadAndEachIsDoneOnce() {
    for count in [1, 2, 9, 100, 2955] {
      #expect(Set((0..<count).map { Spread(over: count)[$0] }) == Set(0..<count))
    }
    let sequences = ShortSequences(pages: 2, bases: [.absent, .compacted])
    let texts = (0..<sequences.count).map { sequences.workload($0).0.description }
    #expect(Set(texts).count == sequences.count)
  }

  @Test func whatAWrongEngineWouldShowIsToldShrunkAndReplayed() throws {
    // As if the engine could not hold a third operation.
    var tier = StatesTier()
    tier.check = WrongCheck.noThirdOperation
    tier.parts = [Part.sequences, Part.interleaved].map { part in
      var part = part
      part.sample = 12
      return part
    }
    let told = Told()
    let tally = Tally { told.note($0) }
    try tier.run(Plan(.ci, seed: 1, workers: 2), tally)
    #expect(
      Set(tally.rows.filter { $0.violations > 0 }.map(\.name)).isSuperset(of: ["t0 sequences", "t0 interleaved"]))
    #expect(told.violations == tally.violations)
    for violation in tally.violations {
      let line = try #require(violation.replay)
      #expect(line.hasPrefix("t0:"))
      let text = String(line.dropFirst(3))
      #expect(try tier.replay(text)?.what == WrongCheck.complaint, "\(line)")
      #expect(try StatesTier().replay(text) == nil, "\(line)")
    }
    #expect(throws: Replay.Fault.self) { try tier.replay("nonsense") }
    #expect(throws: Replay.Fault.self) { try tier.replay("records absent 1 1:|strict.999.b0") }
  }
}

/// A check that finds fault with what is right.
enum WrongCheck {
  static let complaint = "there is a third operation"

  static func noThirdOperation(_ kind: Workload.Kind) -> StateCheck {
    StateCheck(kind: kind, objection: { lsn, _ in lsn > 2 ? complaint : nil })
  }
}

private final class Told: Sendable {
  private let all = Shared<[Violation]>([])
  var violations: [Violation] { all.current }
  func note(_ violation: Violation) { all.change { $0.append(violation) } }
}
