import Testing

@testable import LogStore

@Suite struct GatheringTests {
  private func gathering(after groups: [(count: Int, waiting: Int, duration: UInt64)]) -> Gathering {
    var gathering = Gathering(share: 0.5, longest: 2_000_000)
    for group in groups { gathering.ended(count: group.count, waiting: group.waiting, duration: group.duration) }
    return gathering
  }

  @Test func aWriterThatIsAloneWaitsForNobody() {
    #expect(gathering(after: [(1, 0, 200_000), (1, 0, 200_000)]).expected == 0)
  }

  @Test func thoseWhoWroteAndThoseWhoCameMeanwhileAreWaitedForForHalfACommit() {
    let gathering = gathering(after: [(60, 4, 200_000), (60, 4, 200_000)])
    #expect(gathering.expected == 64)
    #expect(gathering.patience == 100_000)
  }

  @Test func twoWritersThatTakeTurnsComeTogether() {
    #expect(gathering(after: [(1, 1, 200_000), (1, 1, 200_000)]).expected == 2)
  }

  @Test func whereACommitCostsNoMoreThanAWakeNobodyIsWaitedFor() {
    #expect(gathering(after: [(64, 0, 5_000), (64, 0, 5_000)]).expected == 0)
  }

  @Test func oneCommitThatTookLongMakesNobodyWaitLong() {
    #expect(gathering(after: [(8, 0, 200_000), (8, 0, 900_000_000)]).patience == 2_000_000)
    #expect(gathering(after: [(8, 0, 200_000), (8, 0, 1_200_000)]).patience == 150_000)
  }
}
