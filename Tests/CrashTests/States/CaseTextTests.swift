import LogStore
import LogStoreTesting
import Testing

@testable import CrashHarness

/// What is printed to replay a case says all that the case is.
@Suite struct CaseTextTests {
  @Test func workloadsSurviveBeingPrinted() {
    for seed in UInt64(0)..<300 {
      let workload = RandomWorkload.workload(seed)
      #expect(Workload(workload.description) == workload)
    }
    let sequences = ShortSequences(pages: 2, bases: Workload.Base.allCases, kind: .state)
    for number in stride(from: 0, to: sequences.count, by: 17) {
      let (workload, _) = sequences.workload(number)
      #expect(Workload(workload.description) == workload)
    }
  }

  @Test func playsSurviveBeingPrinted() {
    for seed in UInt64(0)..<300 {
      let play = Play(seed: seed)
      #expect(Play(play.description) == play)
    }
    let text = "play absent 7:a power p+a=1.5/c compact none@aacca|strict.3.b9"
    #expect(PlayCase(text)?.description == text)
  }

  @Test func casesSurviveBeingPrinted() {
    let text = "records absent 1 1:0 power p+a=1.5;0 kill|kill.3|records absent 1 1:0 compact previous|strict.7.r3.1"
    #expect(CrashCase(text)?.description == text)
    #expect(CrashCase(text)?.levels.map(\.point?.kind) == [.killed, .driveCacheLost])
    #expect(CrashCase("records absent 1 1:")?.levels.first?.point == nil)
  }

  @Test(arguments: [
    "", "records", "records absent 1:0 sync", "records absent 1 1:2 sync", "records absent 1 1:0 dance",
    "records absent 1 1:0 power p+a", "records absent 0 1:0 sync", "records absent 1 1:|nowhere",
    "records absent 1 1:|strict.x.b1",
  ]) func nonsenseIsNoCase(text: String) {
    #expect(CrashCase(text) == nil)
  }
}
