import LogStore
import Testing

@testable import CrashHarness

/// The sessions in which calls fail leave out no place where the engine calls the system.
@Suite struct CallPlaceTests {
  @Test func callsFailAtEveryPlaceThatTheEngineHas() throws {
    let wrong = CallPlace.disagreements(try CallPlace.reached())
    #expect(wrong == [])
  }

  @Test func placesOutOfReachAreNamedWithTheirReasons() {
    #expect(CallPlace.engine.isSuperset(of: CallPlace.beyondSessions.keys))
    #expect(CallPlace.beyondSessions.values.allSatisfy { !$0.isEmpty })
  }
}
