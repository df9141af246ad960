import LogStore
import LogStoreTesting
import Testing

@testable import CrashHarness

/// A case that does not hold becomes a simpler one that does not hold either.
@Suite struct ShrinkerTests {
  private let shrinker = Shrinker(states: 64, check: WrongCheck.noThirdOperation, seconds: 60)

  private func failing(_ text: String) throws -> Failure {
    var explorer = Explorer(
      Effort(extent: CrashExtent(exhaustive: 64, samples: 16)), seen: nil, check: WrongCheck.noThirdOperation)
    let workload = try #require(Workload(text))
    let failure = explorer.explore(workload)
    return try #require(failure)
  }

  @Test func stepsPagesBaseOperationsAndBytesGo() throws {
    let failure = try failing(
      "records compacted 2 5:1 process p+a=40.7;0 sync;0 power p+b=9.1 p+c=12.2 r+b p+d=20.3;1 suspend;0 compact none;1 close"
    )
    let shrunk = shrinker.shrink(failure)
    #expect(shrunk.what == WrongCheck.complaint)
    let level = try #require(shrunk.subject.levels.first)
    #expect(shrunk.subject.levels.count == 1)
    #expect(level.workload.base == .absent || level.workload.steps.isEmpty)
    #expect(level.workload.pages == 1)
    let operations = level.workload.steps.flatMap(\.step.operations)
    #expect(level.workload.steps.count <= 1)
    #expect(operations.count <= 3)
    for case .put(_, let value) in operations { #expect(value.count <= 1) }
    #expect(try Replay(check: WrongCheck.noThirdOperation).run(shrunk.subject)?.what == WrongCheck.complaint)
  }

  @Test func aCrashInsideACrashGoesWhereOneIsEnough() throws {
    let first = try #require(Workload("records absent 1 3:0 power p+a=4.1"))
    let second = try #require(Workload("records absent 1 3:0 power p+b=4.1;0 power p+c=4.2;0 power p+d=4.3"))
    var explorer = Explorer(
      Effort(
        profiles: [.strict], extent: CrashExtent(exhaustive: 64, samples: 16),
        nested: .init(starts: 8, limit: 64, deeper: 0)), seen: nil, check: WrongCheck.noThirdOperation)
    explorer.follow = { depth, _ in depth == 1 ? second : nil }
    let found = explorer.explore(first)
    let failure = try #require(found)
    #expect(failure.subject.levels.count == 2)
    #expect(try Replay(check: WrongCheck.noThirdOperation).run(failure.subject)?.what == WrongCheck.complaint)
    #expect(try Replay().run(failure.subject) == nil)
    let shrunk = shrinker.shrink(failure)
    #expect(shrunk.subject.levels.count == 1)
    #expect(try Replay(check: WrongCheck.noThirdOperation).run(shrunk.subject) != nil)
  }

  @Test func aPlayLosesThreadsAndActions() throws {
    let play = try #require(
      Play("play absent 4:a power p+a=4.1;process p+b=4.2 p+c=3.1/b power p+d=4.3/c compact none/r view;view"))
    var explorer = PlayExplorer(seen: nil, check: WrongCheck.noThirdOperation)
    let found = explorer.explore(play, schedule: 3)
    let failure = try #require(found)
    let shrunk = PlayShrinker(schedules: 4, seconds: 60, check: WrongCheck.noThirdOperation).shrink(failure)
    #expect(shrunk.what == WrongCheck.complaint)
    #expect(shrunk.subject.play.parts.count <= 2)
    #expect(shrunk.subject.play.parts.allSatisfy { $0.name == "a" || $0.name == "b" })
    let check = WrongCheck.noThirdOperation(.records)
    #expect(try PlayExplorer.replay(shrunk.subject, check: check)?.what == WrongCheck.complaint)
    #expect(try PlayExplorer.replay(shrunk.subject, check: StateCheck(kind: .records)) == nil)
  }
}
