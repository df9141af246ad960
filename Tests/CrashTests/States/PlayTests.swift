import LogStore
import LogStoreTesting
import Testing

@testable import CrashHarness

/// Threads go on in the order that a seed or a trace decides.
@Suite struct PlayTests {
  @Test(arguments: UInt64(1)..<9) func aTraceMakesTheSameThingHappenAgain(seed: UInt64) throws {
    let play = Play(seed: seed)
    let first = PlayRun(play, schedule: seed)
    #expect(first.problem == nil)
    let again = PlayRun(play, schedule: 0, following: first.trace)
    #expect(again.problem == nil)
    #expect(again.trace == first.trace)
    #expect(again.storage.files(in: pagePath) == first.storage.files(in: pagePath))
    #expect(again.moments == first.moments)
  }

  /// Neither the clock nor the system's queues decide anything, in plays in which writers wait for each other in the engine's
  /// own thread, in which it syncs beside them, and in which it reads a new snapshot back beside the compactor.
  @Test func aSeedMakesTheSameThingHappenAgain() {
    var (shared, beside, readBack) = (0, 0, 0)
    for seed in UInt64(1)..<40 {
      let play = Play(seed: seed)
      let (first, again) = (PlayRun(play, schedule: seed), PlayRun(play, schedule: seed))
      #expect(first.trace == again.trace, "\(play)")
      #expect(first.moments == again.moments, "\(play)")
      #expect(first.storage.files(in: pagePath) == again.storage.files(in: pagePath), "\(play)")
      if first.storage.calls.contains(where: { $0.operation == .writeOut }) { readBack += 1 }
      guard first.trace.contains(Turnstile.engine) else { continue }
      if play.syncsBeside { beside += 1 } else if !play.readsBackBeside { shared += 1 }
    }
    #expect(shared > 4)
    #expect(beside > 4)
    #expect(readBack > 4)
  }

  @Test func seedsLeadToDifferentWays() {
    let play = Play(seed: 5)
    let ways = Set((0..<12).map { String(PlayRun(play, schedule: $0).trace) })
    #expect(ways.count > 6)
  }

  @Test func oneThreadComesInBetweenAnyTwoCallsOfAnother() throws {
    // Writer `b` commits while `a` stands in front of each of its calls in turn.
    let play = try #require(Play("play compacted 3:a power p+x=4.1/b power p+y=4.2"))
    var orders: Set<[String]> = []
    for calls in 0..<12 {
      let trace = Array(repeating: Character("a"), count: calls) + Array(repeating: Character("b"), count: 12)
      let run = PlayRun(play, schedule: 1, following: Array(trace.prefix(calls + 1)))
      #expect(run.problem == nil)
      orders.insert(try Page.open(run.storage.crash(.kill)).keys())
    }
    #expect(orders.count == 2)
  }

  @Test func aReaderThatGoesBackOrSeesWhatNeverWasIsTold() throws {
    let play = try #require(Play("play absent 3:a power p+x=4.1;power p+y=4.2/r view;view"))
    let run = PlayRun(play, schedule: 2)
    #expect(run.problem == nil)
    run.note(sight: 2, of: "r", print: Fingerprint(OrderedTable()))
    #expect(run.problem?.contains("never the state") == true)
    let back = PlayRun(play, schedule: 2)
    let first = OrderedTable([Record(key: bytes("x"), value: OperationText.value(4, tag: 1))])
    back.note(sight: 1, of: "x", print: Fingerprint(first))
    #expect(back.problem == nil)
    back.note(sight: 0, of: "x", print: Fingerprint(OrderedTable()))
    #expect(back.problem?.contains("goes back") == true)
  }
}
