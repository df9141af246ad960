import LogStore
import LogStoreTesting
import Testing

@testable import CrashHarness

/// Which states are examined where not all are, how deeply, and which are gone on with.
@Suite struct ExaminationTests {
  private static let shallow = Effort(
    extent: CrashExtent(exhaustive: 512, samples: 64), fullShare: 256, looksAtHalf: true)
  private static let deep = Effort(extent: CrashExtent(exhaustive: 512, samples: 64), fullShare: 8)

  private func workload() throws -> Workload {
    try #require(Workload("records compacted 1 1:0 process p+a=4.1 p+b=4.2;0 power p+c=4.3;0 process p+d=9.4"))
  }

  /// What was only looked at, because a part with little time for each state came first, was never examined by one that
  /// asks for more.
  @Test func whoMeetsAStateFirstDoesNotDecideHowDeeplyItIsExamined() throws {
    let workload = try workload()
    func checks(_ efforts: [Effort]) -> (depths: [StateCheck.Depth: Int], distinct: Int) {
      let seen = DistinctStates()
      let depths = Shared<[StateCheck.Depth: Int]>([:])
      var distinct = 0
      for effort in efforts {
        var explorer = Explorer(effort, seen: seen) { kind in
          StateCheck(
            kind: kind,
            objection: { _, depth in
              depths.change { $0[depth, default: 0] += 1 }
              return nil
            })
        }
        let failure = explorer.explore(workload)
        #expect(failure == nil)
        distinct += explorer.examination.counts.values.reduce(0) { $0 + $1.distinct }
      }
      return (depths.current, distinct)
    }
    let alone = checks([ExaminationTests.deep])
    let after = checks([ExaminationTests.deep, ExaminationTests.shallow])
    let before = checks([ExaminationTests.shallow, ExaminationTests.deep])
    let full = try #require(alone.depths[.full])
    #expect(full > 50 && alone.depths[.quick] ?? 0 > 5 * full)
    // All that the other asks for was done.
    #expect(after.depths == alone.depths)
    #expect(before.depths[.full] == full)
    #expect(before.depths[.look] ?? 0 > 100)
    #expect(before.distinct == alone.distinct && after.distinct == alone.distinct)
  }

  /// Every so many-th state was examined: where that number has a factor in common with what may become of one file, some of
  /// that never was.
  @Test(arguments: 20...59) func someStatesFromEverywhereShowEveryFateOfEveryFile(limit: Int) throws {
    let toy = try Toy()
    let (first, second) = (try toy.file("a"), try toy.file("b"))
    try toy.syncNames()
    try toy.write("12", to: first, at: 0)
    try toy.write("3", to: second, at: 0)
    toy.storage.recordMoments()
    let states = toy.storage.crashStates(at: 0, under: .strict, extent: CrashExtent(samples: 0))
    func fates(_ states: some Sequence<CrashState>) -> [Set<[UInt8]?>] {
      let left = states.map { Toy.shown($0.storage()) }
      return ["a", "b"].map { name in Set(left.map { $0[name] }) }
    }
    let all = fates(states)
    #expect(all.map(\.count) == [12, 5])
    #expect(fates(states.spread) == all)
    var visited: [CrashState] = []
    var examination = Examination(seen: nil, Effort(extent: CrashExtent()))
    let objection = examination.cut(states, limit: limit, .records, [], row: "t0") { state, _ in visited.append(state) }
    #expect(objection == nil)
    #expect(visited.count == limit)
    #expect(fates(visited) == all)
  }

  /// The first states of each moment were gone on with, those in which next to nothing has arrived, and none in the place of
  /// those that somebody had gone on with before.
  @Test func anyStateMayBeGoneOnWith() throws {
    let effort = Effort(
      profiles: [.strict], extent: CrashExtent(exhaustive: 64, samples: 16), limit: 12,
      nested: .init(starts: 4, limit: 1, deeper: 0))
    let seen = DistinctStates()
    let workload = try workload()
    var rounds: [[CrashPoint]] = []
    repeat {
      var explorer = Explorer(effort, seen: seen)
      var starts: [CrashPoint] = []
      explorer.follow = { _, point in
        starts.append(point)
        return nil
      }
      let failure = explorer.explore(workload)
      #expect(failure == nil)
      rounds.append(starts.filter { $0.profile != nil })
    } while rounds.last?.isEmpty == false && rounds.count < 10
    // Random ones too, and in every round others, until all that are examined have had their turn.
    #expect(rounds[0].contains { $0.description.contains(".r") })
    #expect(rounds.count > 3 && rounds.last?.isEmpty == true)
    let all = rounds.flatMap { $0.map(\.description) }
    #expect(Set(all).count == all.count)
  }
}
