import Testing

@testable import CrashHarness

/// Who is told of violations, and when.
@Suite struct TallyTests {
  @Test func violationsAreToldInTheirOrderAlsoWhereOneComesWhileAnotherIsTold() {
    let told = Shared<[String]>([])
    let tally = Shared<Tally?>(nil)
    tally.change { place in
      place = Tally { violation in
        // Another thread finds the next while this one is being told: it neither waits nor tells before it.
        if violation.what == "0", let tally = tally.current {
          SystemThread.run(3) { number in tally.violation(TallyTests.violation(number + 1), in: "t0") }
        }
        told.change { $0.append(violation.what) }
      }
    }
    tally.current?.violation(TallyTests.violation(0), in: "t0")
    #expect(told.current.count == 4)
    #expect(told.current == tally.current?.violations.map(\.what))
    tally.current?.violation(TallyTests.violation(4), in: "t0")
    #expect(told.current.last == "4")
    #expect(tally.current?.rows.map(\.violations) == [5])
    tally.change { $0 = nil }
  }

  /// Where two work beside each other, a row's seconds are half of what both have spent.
  @Test func secondsAreThoseThatWentBy() {
    let tally = Tally()
    for states in [100, 300] { tally.add("t1", states: states, work: .init(seconds: 8, of: 2)) }
    tally.add("t1", states: 10)
    #expect(tally.rows.map(\.states) == [410])
    #expect(tally.rows.map(\.seconds) == [8])
    #expect(Table(tally.rows).text.split(separator: "\n").last?.split(separator: " ").suffix(3) == ["8", "51", "0"])
  }

  /// The table says the same of every tier: whoever adds states that took time says how many worked.
  @Test func everyTierSaysHowManyWorked() throws {
    var tier = StatesTier()
    var part = Part.sequences
    part.sample = 40
    tier.parts = [part]
    let (one, two) = (Tally(), Tally())
    let start = ContinuousClock.now
    try tier.run(Plan(.ci, seed: 1, workers: 1), one)
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    let told = one.rows.reduce(0) { $0 + $1.seconds }
    #expect(told <= seconds && told > seconds / 2)
    let sweep = CallSweep(two)
    let began = ContinuousClock.now
    sweep.run(Plan(.seconds(2), seed: 1, workers: 2))
    #expect(two.rows.reduce(0) { $0 + $1.seconds } <= (ContinuousClock.now - began) / .seconds(1))
  }

  private static func violation(_ number: Int) -> Violation { Violation(what: "\(number)") }
}
