import LogStore
import LogStoreTesting

@testable import CrashHarness

extension FuzzTarget {
  /// Bytes are a script of operations, faults and crashes, also in the middle of an opening, a recovery, a compaction. After
  /// every crash the page shows what the ledger allows: all that was acknowledged, nothing that was not issued, no half
  /// batch; recovering twice is recovering once, and what is written then survives the next crash.
  static let crashes = FuzzTarget(name: "crashes") { bytes in
    var lives = Lives(bytes)
    try lives.run()
  }
}

/// A page through the lives of several processes.
private struct Lives {
  private var input: InputBytes
  private var runner: ScriptRunner
  /// Whether failed syncs take unsynced bytes out of the cache: for the whole script, since the ledger has to know.
  private let cacheLies: Bool
  private var crashes = 0

  private static let mostSteps = 60
  private static let mostCrashes = 12

  init(_ bytes: [UInt8]) {
    input = InputBytes(bytes)
    cacheLies = input.byte() & 1 != 0
    runner = ScriptRunner(SimulatedStorage(seed: 1), cacheLies: cacheLies)
  }

  mutating func run() throws {
    var steps = 0
    while !input.isEmpty, steps < Lives.mostSteps, crashes < Lives.mostCrashes {
      steps += 1
      let choice = input.byte()
      switch choice % 16 {
      case 0...8: try step(choice)
      case 9...11: fault()
      case 12:
        try heal()
      case 13, 14:
        // In the middle of whatever comes next, an opening included.
        runner.mayFail = true
        runner.storage.cutPower(after: Int(input.byte() % 32))
        try step(input.byte())
        fallthrough
      default: try crash(fate())
      }
    }
    runner.storage.heal()
    for crash in [Crash.kill, .powerCut(.dropUnsynced), .powerCut(.keepAll)] { try examine(crash) }
  }

  // MARK: Steps

  private mutating func step(_ choice: UInt8) throws {
    let step: Script.Step =
      switch choice / 16 {
      case 0...7: .write(batch(), choice & 1 == 0 ? .power : .process)
      case 8: .sync
      case 9, 10: .compact([Retention.none, .previous, .count(2), .all][Int(input.byte() % 4)])
      case 11: .recover
      case 12: .reopen
      case 13: .kill
      case 14: .wait([1, 2, 700][Int(input.byte() % 3)])
      default: .view
      }
    if case .wait = step, input.byte() & 1 == 0 {
      runner.run(.suspend)
      runner.run(step)
      runner.run(.resume)
    } else {
      runner.run(step)
    }
    try checkProblems()
  }

  private func checkProblems() throws {
    try demand(runner.problems.isEmpty, runner.problems.first ?? "")
  }

  private mutating func batch() -> [TableOperation] {
    let count = input.byte()
    return (0..<(count < 0xC0 ? 1 : Int(count & 7) + 1)).map { _ in operation() }
  }

  private mutating func operation() -> TableOperation {
    let choice = input.byte()
    switch choice % 8 {
    case 0...2: return .put(key(), value())
    case 3: return .putBefore(key(), key(), value())
    case 4: return .remove(key())
    case 5: return .move(key(), key())
    case 6: return .moveToEnd(key())
    default: return choice > 0xE0 ? .clear : .put(key(), value())
    }
  }

  private mutating func key() -> [UInt8] { Array("k\(input.byte() % 7)".utf8) }

  private mutating func value() -> [UInt8] {
    let length = Int(input.byte())
    let first = input.byte()
    return (0..<(length < 0xF0 ? length / 4 : length * 20)).map { first &+ UInt8(truncatingIfNeeded: $0) }
  }

  // MARK: Faults

  /// Calls no longer fail, so that the page must come back to work: a process that has lived through the faults recovers,
  /// another one opens it; from then on nothing may fail.
  private mutating func heal() throws {
    runner.storage.heal()
    runner.mayFail = false
    if runner.isSuspended { runner.run(.resume) }
    runner.run(.recover)
    try checkProblems()
  }

  private mutating func fault() {
    runner.mayFail = true
    let choice = input.byte()
    if choice >= 0xF0 {
      runner.storage.freeBytes = Int(input.byte()) * 8
      return
    }
    let calls = calls()
    let after = Int(input.byte() % 24)
    runner.storage.fail(
      Fault(calls, effect(choice, calls), after: after, repeating: choice & 0x80 != 0, concerns: names()))
  }

  /// Nil: any.
  private mutating func calls() -> Set<StorageError.Operation>? {
    let choice = Int(input.byte()) % (StorageError.Operation.allCases.count + 2)
    return StorageError.Operation.allCases.indices.contains(choice) ? [StorageError.Operation.allCases[choice]] : nil
  }

  private mutating func effect(_ choice: UInt8, _ calls: Set<StorageError.Operation>?) -> Fault.Effect {
    switch choice & 7 {
    case 0: return .error(5)  // EIO
    case 1: return .error(28)  // ENOSPC
    case 2: return .error(13)  // EACCES
    // EINTR without end would be no fault of the engine's: it goes on for as long as it is interrupted.
    case 3: return choice & 0x80 == 0 && calls.map { $0.isSubset(of: [.read, .write]) } == true ? .error(4) : .error(5)
    case 4: return .short(Int(input.byte()) + 1)
    case 5: return .partThenError(Int(input.byte()), 5)
    case 6: return .partThenError(Int(input.byte()), 28)
    default: return .failedSync(cache: cacheLies ? .old : .new)
    }
  }

  private mutating func names() -> (@Sendable (String) -> Bool)? {
    switch input.byte() % 8 {
    case 0: { $0.hasSuffix(".journal") }
    case 1: { $0.hasSuffix(".journal.tmp") }
    case 2: { $0.hasSuffix(".snapshot.tmp") }
    case 3: { $0.hasSuffix(".snapshot") }
    default: nil
    }
  }

  // MARK: Crashes

  private mutating func fate() -> Crash {
    let choice = input.byte()
    return switch choice % 8 {
    case 0, 1: .kill
    case 2: .powerCut(.dropUnsynced)
    case 3: .powerCut(.keepAll)
    default: .powerCut(.seeded(UInt64(choice) << 8 | UInt64(input.byte())))
    }
  }

  private func examine(_ crash: Crash) throws {
    let left = runner.storage.crash(crash)
    // The examiner goes on writing.
    left.freeBytes = nil
    let problems = CrashExaminer().examine(left, runner.ledger, crash)
    try demand(problems.isEmpty, "\(crash): \(problems.first ?? "")")
  }

  /// The process ends, and another goes on with what is left.
  private mutating func crash(_ crash: Crash) throws {
    crashes += 1
    try examine(crash)
    runner = ScriptRunner(runner.storage.crash(crash), runner.ledger.crashed(crash), cacheLies: cacheLies)
    // A disk that is full stays so.
    runner.mayFail = runner.storage.freeBytes != nil
  }
}

extension ScriptRunner {
  /// Whether calls of the storage fail from now on: then steps may, with an error that says so.
  fileprivate var mayFail: Bool {
    get { !expected.isEmpty }
    set { expected = newValue ? [.io, .noSpace, .unavailable, .outcomeUnknown, .cannotCreate, .suspended] : [] }
  }
}
