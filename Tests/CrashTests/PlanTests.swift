import Testing

@testable import CrashHarness

/// How a run's time is shared out.
@Suite struct PlanTests {
  @Test func aPartHasItsShareOfWhatIsLeft() throws {
    let whole = Plan(.seconds(4000), seed: 1, workers: 1, since: .now - .seconds(3000))
    guard case .seconds(let half) = whole.part(0.5).extent else { throw Unlimited() }
    #expect((400...500).contains(half))
    guard case .seconds(let rest) = whole.part(1).extent else { throw Unlimited() }
    #expect((900...1000).contains(rest))
  }

  @Test func whereTheTimeIsUpNothingIsLeftForAPart() {
    let whole = Plan(.seconds(10), seed: 1, workers: 1, since: .now - .seconds(11))
    #expect(whole.isOver)
    #expect(whole.part(1).isOver)
  }

  @Test func inCIThereIsNoTime() {
    let part = Plan(.ci, seed: 1, workers: 1, since: .now - .seconds(1000)).part(0.1)
    #expect(part.isCI)
    #expect(!part.isOver)
  }

  private struct Unlimited: Error {}
}
