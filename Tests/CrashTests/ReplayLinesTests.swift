import LogStore
import LogStoreTesting
import Testing

@testable import CrashHarness

/// Whatever line the harness prints to replay a case, `crash replay` takes it.
@Suite struct ReplayLinesTests {
  /// One of each kind of case that a violation can name.
  private static func examples() throws -> [any Replayable] {
    let workload = try #require(Workload("records absent 1 1:0 power p+a=4.1"))
    let run = WorkloadRun(workload, on: SimulatedStorage(seed: 1), [Expectation(Ledger(), exists: false)])
    let point = CrashPoint(run.storage.killState(at: 0))
    let play = PlayRun(try #require(Play("play absent 3:a power p+x=4.1/b power p+y=4.2")), schedule: 1)
    var fault = FaultCase(session: "writes", way: .noSpace, place: 2, isRepeating: true)
    fault.steps = [0, 2]
    return [
      CrashCase([.init(workload: workload, point: point)]), PlayCase(play, point), fault, PlacesCase(),
      DamageCase(seed: 1, page: "open", kind: .cut(file: "0000000000.journal", length: 200)),
      LogctlCase(.compact, .noSpace, SystemCall(name: "fsync", number: 2), isRepeating: true),
      ShortCase(.import, .pwrite, 3, isRepeating: false), KeptKill("/tmp/some where/t2-1-2"),
      BlockCase(folder: "/tmp/x:y/t3-5", state: DiskState(end: 7, fate: .seeded(3))),
    ]
  }

  private func isTaken(_ line: String) -> Bool {
    let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
    guard parts.count == 2, let tier = CrashCommand.tiers.first(where: { $0.name == parts[0] }) else { return false }
    do {
      _ = try tier.init().replay(parts[1])
      return true
    } catch let fault as Replay.Fault {
      return !fault.description.contains("not a case")
    } catch let disagreement as Disagreement {
      return !disagreement.description.contains("no such case") && !disagreement.description.contains("is wanted")
    } catch {
      // It was understood; here there is no such folder, or no such tool.
      return true
    }
  }

  private func sources(_ folder: String) -> [String] {
    TemporaryFolder.names(in: folder).flatMap { name in
      name.hasSuffix(".swift") ? [folder + "/" + name] : sources(folder + "/" + name)
    }
  }

  @Test func everyKindOfCaseIsReadAsItIsPrinted() throws {
    for one in try ReplayLinesTests.examples() {
      let line = try #require(Violation(what: "", in: one).replay)
      #expect(type(of: one).init(one.description)?.description == one.description, "\(line)")
      // The one takes minutes, and CallPlaceTests do the same.
      #expect(one is PlacesCase || isTaken(line), "\(line)")
    }
    for line in ["t0:", "t1:", "t1:logctl", "t1:nonsense", "t3:", "t9:places"] {
      #expect(!isTaken(line), "\(line)")
    }
    #expect(Violation(what: "many together").replay == nil)
  }

  /// What can be named is a `Replayable`; here are all of them, and only one place prints the line.
  @Test func thereIsAnExampleOfEveryKindOfCase() throws {
    let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/Sources/CrashHarness"
    var (kinds, printing): (Set<String>, Int) = ([], 0)
    for path in sources(root) {
      let text = String(decoding: try #require(TemporaryFolder.read(path)), as: UTF8.self)
      printing += text.split(separator: "crash replay '").count - 1
      for line in text.split(separator: "\n") where line.contains("Replayable {") && line.hasPrefix("struct ") {
        kinds.insert(String(line.dropFirst("struct ".count).prefix { $0.isLetter }))
      }
    }
    #expect(kinds == Set(try ReplayLinesTests.examples().map { "\(type(of: $0))" }))
    #expect(printing == 1)
  }
}
