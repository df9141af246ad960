import Glibc
import LogStore
import LogStoreTesting
import Testing

@testable import CrashHarness

/// Every call of a session fails once, in every way: no trap, no false promise, and afterwards the page goes on.
@Suite struct FaultSweepTests {
  /// Creation, writing at both levels, compaction, suspension, closing, reopening, recovery from a kill.
  static let session = Script([
    .write([.put(bytes("a"), bytes("one"))], .power), .write([.put(bytes("b"), bytes("two"))], .process), .sync,
    .write([.put(bytes("c"), bytes("three")), .remove(bytes("a"))], .power), .compact(.previous),
    .write([.putBefore(bytes("d"), bytes("b"), bytes("four"))], .process), .recover, .suspend, .resume,
    .write([.put(bytes("e"), [UInt8](repeating: 7, count: 3000))], .process), .kill, .recover,
    .write([.move(bytes("b"), bytes("e"))], .power), .reopen, .write([.put(bytes("f"), bytes("six"))], .power),
    .recover,
    .compact(.none), .write([.remove(bytes("c"))], .process), .close,
  ])

  /// What a session may say when calls fail: never that the page is damaged, foreign or absent.
  static let honest: Set<LogStoreError.Code> = [
    .io, .noSpace, .unavailable, .outcomeUnknown, .cannotCreate, .suspended,
  ]

  enum Way: String, CaseIterable, CustomTestStringConvertible {
    case inputOutput, noSpace, interrupted, refused, short, shortThenNoSpace, partThenError, syncKeepsNew, syncShowsOld

    var testDescription: String { rawValue }

    func faults(after: Int, repeating: Bool) -> [Fault] {
      switch self {
      case .inputOutput: [Fault(nil, .error(EIO), after: after, repeating: repeating)]
      case .noSpace:
        [Fault([.write, .create, .rename, .createDirectory], .error(ENOSPC), after: after, repeating: repeating)]
      // From then on for ever would be no fault of the engine's: it goes on for as long as it is interrupted.
      case .interrupted: [Fault([.read, .write], .error(EINTR), after: after)]
      case .refused: [Fault(nil, .error(EACCES), after: after, repeating: repeating)]
      case .short: [Fault([.read, .write], .short(61), after: after, repeating: repeating)]
      case .shortThenNoSpace:
        [Fault(.write, .short(11), after: after), Fault(.write, .error(ENOSPC), after: after, repeating: repeating)]
      case .partThenError: [Fault(.write, .partThenError(20, EIO), after: after, repeating: repeating)]
      case .syncKeepsNew:
        [Fault([.sync, .syncDirectory, .syncParent], .failedSync(cache: .new), after: after, repeating: repeating)]
      case .syncShowsOld:
        [Fault([.sync, .syncDirectory, .syncParent], .failedSync(cache: .old), after: after, repeating: repeating)]
      }
    }

    var cacheLies: Bool { self == .syncShowsOld }
    /// Ways in which nothing may fail at all.
    var isHarmless: Bool { self == .interrupted || self == .short }
  }

  @Test(arguments: Way.allCases, [false, true])
  func everyCallThatFailsIsToldAndCostsNothingThatWasAcknowledged(way: Way, repeating: Bool) {
    var place = 0
    var fired = true
    var complaints = 0
    while fired, place < 1000, complaints < 3 {
      let storage = SimulatedStorage(seed: 5)
      for fault in way.faults(after: place, repeating: repeating) { storage.fail(fault) }
      let runner = ScriptRunner(
        storage, expecting: way.isHarmless ? [] : FaultSweepTests.honest, cacheLies: way.cacheLies)
      runner.run(FaultSweepTests.session)
      fired = storage.faultHasFired
      let said =
        "\(way), call \(place), \(repeating ? "from then on" : "once"), after \(storage.firstFailure?.description ?? "nothing")"
      if !runner.problems.isEmpty { complaints += 1 }
      #expect(runner.problems.isEmpty, "\(said): \(runner.problems.first ?? "")")
      storage.heal()
      let cuts: [Crash] = [.powerCut(.dropUnsynced), .powerCut(.keepAll), .powerCut(.seeded(UInt64(place)))]
      for crash in [.kill, cuts[place % 3]] {
        guard complaints < 3 else { break }
        let problems = CrashExaminer(allowsDamage: false).examine(storage.crash(crash), runner.ledger, crash)
        if !problems.isEmpty { complaints += 1 }
        #expect(problems.isEmpty, "\(said), then \(crash): \(problems.first ?? "")")
      }
      place += 1
    }
    #expect(place > 5)
  }
}

func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
