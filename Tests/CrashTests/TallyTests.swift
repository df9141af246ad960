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

  private static func violation(_ number: Int) -> Violation { Violation(what: "\(number)", replay: "t0:\(number)") }
}
