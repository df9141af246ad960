import LogStore
import LogStoreTesting
import Synchronization

/// A play as it went: who went on when, what was acknowledged when, and what readers saw.
final class PlayRun: Sendable {
  let play: Play
  let storage: SimulatedStorage
  private let notes = Mutex(Notes())
  private let base: Expectation

  private struct Notes {
    var trace: [Character] = []
    var acks: [Ack] = []
    var sights: [Sight] = []
    var problems: [String] = []
    var moments: [Int] = []
  }

  /// A batch was acknowledged, or, where it has no operations, a sync.
  private struct Ack {
    var calls: Int
    var operations: [TableOperation]
    var lsn: UInt64
    var durability: Durability
  }

  /// A reader saw the page so.
  private struct Sight {
    var reader: Character
    /// Calls made when it began to look.
    var calls: Int
    var lsn: UInt64
    var print: UInt64
  }

  /// Some records make a snapshot of about three times as many.
  private static let readBackBytes = 512
  private static let patience = Duration.seconds(1)

  /// Runs a play; whose turn it is, `trace` decides as far as it goes, then the seed.
  init(_ play: Play, schedule seed: UInt64, following trace: [Character] = []) {
    self.play = play
    let (disk, known) = Bases.disk(for: Workload(base: play.base, steps: [], seed: play.seed))
    storage = disk
    base = known[0]
    let turnstile = Turnstile()
    do throws(LogStoreError) {
      var options = OpenPage.options(storage)
      options.schedule = turnstile.schedule
      if play.syncsBeside { options.syncAfterBytes = 48 }
      if play.readsBackBeside { options.readBack = ReadBack(bytes: PlayRun.readBackBytes) }
      let page = try Page(path: Workload.path(0), mode: .create, options: options)
      run(page, turnstile, seed, trace)
    } catch {
      notes.withLock { $0.problems.append("opening failed: \(error)") }
    }
  }

  var trace: [Character] { notes.withLock { $0.trace } }
  var moments: [Int] { notes.withLock { $0.moments } }

  private func run(_ page: Page, _ turnstile: Turnstile, _ seed: UInt64, _ trace: [Character]) {
    storage.forgetCalls()
    storage.recordMoments()
    storage.watch { _ in turnstile.arrive() }
    storage.watchSyncReturns { turnstile.arrive() }
    for part in play.parts {
      turnstile.start(part.name) { [self] in
        var reader: Page?
        for action in part.actions {
          perform(action, part.name, page, &reader)
          // What was woken together goes on one by one, too.
          turnstile.arrive()
        }
      }
    }
    let choosing = Mutex(Choosing(seed, trace))
    do throws(Turnstile.Hang) {
      try turnstile.run { [self] ready in
        let name = choosing.withLock { $0.choose(ready) }
        if let name { notes.withLock { $0.trace.append(name) } }
        return name
      }
    } catch {
      notes.withLock { $0.problems.append("no thread can go on") }
    }
    storage.watch(nil)
    storage.watchSyncReturns(nil)
    notes.withLock { $0.moments = storage.moments }
  }

  /// Whose turn it is: a trace decides as far as it goes, then a seed.
  private struct Choosing {
    var random: SeededRandom
    var given: ArraySlice<Character>
    var waitingSince: ContinuousClock.Instant?
    var current: Character?

    init(_ seed: UInt64, _ trace: [Character]) {
      random = SeededRandom(seed: seed)
      given = trace[...]
    }

    mutating func choose(_ ready: [Character]) -> Character? {
      if let next = given.first {
        if ready.contains(next) {
          given.removeFirst()
          waitingSince = nil
          return next
        }
        let since = waitingSince ?? .now
        waitingSince = since
        // One that does not come although all others wait went another way this time.
        if ContinuousClock.now - since < PlayRun.patience { return nil }
        given = []
      }
      // Often the same thread goes on: few switches, at any place, find most.
      var name = ready[Int(random.next() % UInt64(ready.count))]
      if let same = current, ready.contains(same), random.next() % 3 != 0 { name = same }
      current = name
      return name
    }
  }

  // MARK: The threads

  private func perform(_ action: Play.Action, _ name: Character, _ page: Page, _ reader: inout Page?) {
    do {
      switch action {
      case .step(.write(let operations, let durability)):
        var batch = WriteBatch(partBytes: OpenPage.partBytes)
        for operation in operations { try operation.add(to: &batch) }
        let position = try page.write(batch, durability: durability)
        acknowledge(operations, position.lsn, durability)
      case .step(.sync):
        acknowledge([], try page.sync().lsn, .power)
      case .step(.compact(let keep)):
        try page.compact(keep: keep)
      case .step: break
      case .view:
        try see(name) { try page.view() }
      case .look:
        try see(name) {
          if let reader { try reader.refresh() } else { reader = try lookIn() }
          return try reader?.view()
        }
      }
    } catch let error as LogStoreError where error.code == .busy {
      // Two compactions at a time are refused.
    } catch {
      notes.withLock { $0.problems.append("\(name): \(error)") }
    }
  }

  private func lookIn() throws -> Page {
    try Page(path: Workload.path(0), mode: .readOnly, options: OpenPage.options(storage))
  }

  private func acknowledge(_ operations: [TableOperation], _ lsn: UInt64, _ durability: Durability) {
    let calls = storage.callCount
    notes.withLock {
      $0.acks.append(Ack(calls: calls, operations: operations, lsn: lsn, durability: durability))
    }
  }

  private func see(_ name: Character, _ look: () throws -> PageView?) throws {
    let calls = storage.callCount
    guard let view = try look() else { return }
    var print = Fingerprint()
    try view.forEach { key, value in
      print.add(key)
      print.add(value)
      return true
    }
    note(sight: view.position.lsn, of: name, print: print, since: calls)
  }

  func note(sight lsn: UInt64, of reader: Character, print: Fingerprint, since calls: Int = 0) {
    notes.withLock { $0.sights.append(Sight(reader: reader, calls: calls, lsn: lsn, print: print.value)) }
  }

  // MARK: What came of it

  /// All batches in the order of the log.
  private func log(_ notes: borrowing Notes) -> [Ack] {
    notes.acks.filter { !$0.operations.isEmpty }.sorted { $0.lsn < $1.lsn }
  }

  /// What does not hold while the play runs; nil if all does.
  var problem: String? {
    notes.withLock { notes in
      if let problem = notes.problems.first { return problem }
      var lsn = base.ledger.presentLSN
      var table = base.ledger.present
      var states = [lsn: Fingerprint(table).value]
      for batch in log(notes) {
        lsn += UInt64(batch.operations.count)
        guard batch.lsn == lsn else { return "a batch was acknowledged at LSN \(batch.lsn), and stands at \(lsn)" }
        table.apply(batch.operations)
        states[lsn] = Fingerprint(table).value
      }
      var last: [Character: UInt64] = [:]
      for sight in notes.sights {
        guard states[sight.lsn] == sight.print else {
          return "reader \(sight.reader) sees at LSN \(sight.lsn) what was never the state"
        }
        if let before = last[sight.reader], sight.lsn < before {
          return "reader \(sight.reader) goes back from LSN \(before) to \(sight.lsn)"
        }
        last[sight.reader] = sight.lsn
        let acknowledged = notes.acks.filter { $0.calls < sight.calls }.map(\.lsn).max() ?? 0
        if sight.lsn < acknowledged {
          return "reader \(sight.reader) sees LSN \(sight.lsn), and \(acknowledged) was acknowledged before it looked"
        }
      }
      return nil
    }
  }

  /// What counts for a crash at a moment, before the next call that changes anything.
  func expectation(at moment: Int) -> Expectation {
    notes.withLock { notes in
      let next = moment + 1 < notes.moments.count ? notes.moments[moment + 1] : .max
      let log = log(notes)
      let known = notes.acks.filter { $0.calls < next }
      let handedOver = known.map(\.lsn).max() ?? 0
      func reached(_ level: Durability) -> UInt64 { known.filter { $0.durability >= level }.map(\.lsn).max() ?? 0 }
      let (durable, ordered) = (reached(.power), reached(.ordered))
      var ledger = base.ledger
      ledger.settle(base.ledger.present, lsn: base.ledger.presentLSN)
      for batch in log where batch.lsn <= handedOver {
        ledger.begin(batch.operations)
        ledger.acknowledge(batch.lsn <= durable ? .power : batch.lsn <= ordered ? .ordered : .process)
      }
      for batch in log where batch.lsn > handedOver { ledger.begin(batch.operations) }
      return Expectation(ledger, exists: true)
    }
  }
}
