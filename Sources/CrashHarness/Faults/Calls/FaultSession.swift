import LogStore
import LogStoreTesting

/// What is done while a call fails. Together the sessions reach every place where the engine calls the system.
struct FaultSession: Sendable {
  var name: String
  var steps: [FaultStep]
  /// The disk to begin with, and what was promised of it.
  var start: @Sendable () throws -> Start
  /// Whether the page begins with damage on it, so that damage may be reported.
  var allowsDamage = false
  var kind = ScriptedKind.table

  struct Start {
    var storage: SimulatedStorage
    var ledger = Ledger()
  }

  private static func put(_ key: String, _ value: String) -> TableOperation { .put(Array(key.utf8), Array(value.utf8)) }
  private static let long: TableOperation = .put(Array("long".utf8), [UInt8](repeating: 7, count: 3000))

  private static let empty: @Sendable () throws -> Start = { Start(storage: SimulatedStorage(seed: 5)) }

  static let all: [FaultSession] = [
    FaultSession(
      name: "life",
      steps: [
        .page(.write([put("a", "one")], .power)), .page(.write([put("b", "two")], .process)), .page(.sync),
        .page(.write([put("c", "three"), .remove(Array("a".utf8))], .power)), .page(.compact(.previous)),
        .page(.write([.putBefore(Array("d".utf8), Array("b".utf8), Array("four".utf8))], .process)), .page(.recover),
        .page(.suspend), .page(.resume), .page(.write([long], .process)), .page(.kill), .page(.recover),
        .page(.write([.move(Array("b".utf8), Array("long".utf8))], .power)), .page(.reopen),
        .page(.write([put("f", "six")], .power)), .page(.recover), .page(.compact(.none)),
        .page(.write([.remove(Array("c".utf8))], .process)), .page(.close),
      ], start: empty),
    FaultSession(
      name: "writes",
      // Nothing comes behind them: what fails last is what a crash meets.
      steps: [
        .page(.write([put("a", "one")], .power)), .page(.write([put("b", "two")], .process)),
        .page(.write([put("c", "three")], .process)), .page(.write([put("d", "four")], .power)),
      ], start: empty),
    FaultSession(
      name: "processes",
      // What one process could not sync, the next finds in the cache, and syncs with success.
      steps: [
        .page(.write([put("a", "one")], .power)), .page(.write([put("b", "two")], .process)), .page(.sync),
        .page(.kill),
        .page(.write([put("c", "three")], .power)),
      ], start: empty),
    FaultSession(
      name: "memory",
      steps: [
        .page(.write([put("a", "one")], .power)), .page(.write([put("b", "two")], .process)),
        .page(.write([put("c", "three")], .process)), .page(.sync), .page(.view),
        .page(.write([put("d", "four")], .process)), .page(.view), .page(.recover), .page(.view),
        .page(.write([put("e", "five")], .process)), .page(.write([put("a", "six")], .process)), .page(.close),
      ], start: empty),
    FaultSession(
      name: "beside",
      // Each long value makes the writer wait for a sync, each short one has the engine sync beside it.
      steps: [
        .page(.write([put("a", "one")], .process)), .page(.view), .page(.write([long], .process)), .page(.view), .read,
        .page(.write([put("b", "two")], .process)), .page(.view), .page(.recover), .page(.view),
        .page(.write([put("c", "three"), long], .process)), .page(.recover),
        .page(.write([put("d", "four")], .process)),
        .page(.compact(.none)), .page(.write([long], .process)), .page(.view), .page(.suspend), .page(.resume),
        .page(.write([put("e", "five")], .ordered)), .page(.kill), .page(.write([put("f", "six")], .process)),
        .page(.view), .page(.close),
      ], start: empty, kind: .syncing),
    FaultSession(
      name: "retention",
      steps: [
        .page(.write([put("a", "one"), long], .power)), .page(.compact(.all)), .page(.write([put("b", "two")], .power)),
        .page(.compact(.all)), .page(.wait(700)), .page(.write([put("c", "three")], .ordered)),
        .page(.compact(.count(1))), .page(.write([put("a", "four")], .power)), .page(.wait(700)),
        .page(.compact(.previous)), .page(.view), .page(.wait(700)), .page(.compact(.none)), .page(.close),
      ], start: empty),
    FaultSession(
      name: "readers",
      steps: [
        .page(.write([put("a", "one")], .power)), .read, .page(.write([put("b", "two")], .power)), .refresh,
        .page(.compact(.none)), .refresh, .read, .verify, .find, .page(.write([put("c", "three")], .process)), .salvage,
        .read,
        .page(.kill), .refresh, .page(.suspend), .refresh, .verify, .page(.resume), .page(.view), .page(.close), .read,
        .salvage,
      ], start: empty),
    FaultSession(
      name: "recovery",
      steps: [
        .page(.view), .page(.write([put("k", "more")], .power)), .page(.recover), .page(.compact(.none)),
        .page(.write([put("l", "last")], .process)), .page(.close),
      ], start: { try crashed(seed: 3) }),
    FaultSession(
      name: "torn",
      steps: [
        .read, .page(.write([put("k", "more")], .process)), .page(.sync), .page(.recover), .page(.kill), .page(.view),
        .page(.close),
      ],
      start: { try crashed(seed: 11) }),
    FaultSession(
      name: "damaged",
      steps: [
        .page(.view), .read, .page(.write([put("k", "more")], .power)), .page(.recover), .verify, .salvage,
        .page(.compact(.previous)), .page(.kill), .forget, .page(.write([put("l", "last")], .power)),
        .page(.compact(.none)), .page(.close),
      ], start: { try damaged("closed", batch: 5) }, allowsDamage: true),
    FaultSession(
      name: "heal",
      steps: [
        .page(.view), .read, .page(.write([put("k", "more")], .power)), .verify, .page(.compact(.previous)),
        .page(.view), .page(.recover), .page(.close), .salvage,
      ], start: { try damagedBase("kept") }, allowsDamage: true),
    FaultSession(
      name: "deflated",
      steps: [
        .page(.write((0..<9).map { put("k\($0)", String(repeating: "so \($0)", count: 90)) }, .power)),
        .page(.compact(.previous)), .page(.view), .read, .page(.write([put("k3", "three"), long], .process)),
        .page(.compact(.all)), .page(.view), .refresh, .verify, .salvage, .page(.reopen), .page(.view),
        .page(.write([.move(Array("k1".utf8), Array("k8".utf8))], .power)), .page(.compact(.none)), .page(.close),
        .read,
      ], start: empty, kind: .deflated),
    FaultSession(
      name: "divided",
      steps: [
        .page(.write([put("a", "one"), long], .power)), .page(.write([long, put("b", "two")], .process)), .read,
        .page(.sync), .page(.kill), .page(.write([long], .process)), .page(.recover), .page(.view), .verify,
        .page(.compact(.previous)), .salvage, .page(.write([.remove(Array("long".utf8)), long], .power)),
        .page(.reopen), .page(.view), .page(.close),
      ], start: empty, kind: .divided),
    FaultSession(
      name: "application",
      steps: [
        .page(.write([put("a", "one")], .power)), .page(.write([put("b", "two"), long], .process)), .page(.sync), .read,
        .page(.compact(.previous)), .page(.view),
        .page(.write([.remove(Array("a".utf8)), put("c", "three")], .process)),
        .page(.recover), .page(.suspend), .page(.resume), .verify, .page(.kill), .page(.view), .read,
        .page(.write([put("d", "four")], .power)), .salvage, .page(.compact(.none)), .page(.reopen), .page(.view),
        .page(.write([put("e", "five")], .process)), .page(.close), .read,
      ], start: empty, kind: .application),
    FaultSession(
      name: "readback",
      steps: [
        .page(.write([put("a", "one"), long], .power)), .page(.compact(.previous)),
        .page(.write([put("b", "two")], .process)), .read, .page(.compact(.none)), .page(.view), .verify,
        .page(.write([put("c", "three")], .power)), .page(.kill), .page(.compact(.none)), .page(.close), .read,
      ], start: empty, kind: .readBack),
  ]

  /// A page as a power cut left it.
  private static func crashed(seed: UInt64) throws -> Start {
    let storage = SimulatedStorage(seed: seed)
    let runner = ScriptRunner(storage)
    runner.run(
      Script([
        .write([put("a", "one")], .power), .write([put("b", "two")], .power), .compact(.previous),
        .write([put("c", "three")], .power), .write([long], .process), .write([put("d", "four")], .process),
      ]))
    let crash = Crash.powerCut(.seeded(seed))
    return Start(storage: storage.crash(crash), ledger: runner.ledger.crashed(crash))
  }

  /// A page with a batch that rotted: what is left of it is what was promised.
  private static func damaged(_ name: String, batch index: Int) throws -> Start {
    guard let page = try Corpus.page(name, seed: 1),
      let batch = page.anatomy.batches.first(where: { $0.index == index })
    else { throw Disagreement("no batch \(index) in \(name)") }
    let storage = page.disk.crash(.kill)
    storage.edit(pagePath + "/" + batch.file) { $0[batch.range.lowerBound + 10] ^= 1 }
    return try settled(storage)
  }

  /// A page with a record in its snapshot that rotted, and a generation kept to mend it from.
  private static func damagedBase(_ name: String) throws -> Start {
    guard let page = try Corpus.page(name, seed: 1), let base = page.anatomy.base else {
      throw Disagreement("no snapshot in \(name)")
    }
    let storage = page.disk.crash(.kill)
    storage.edit(pagePath + "/" + base) { $0[140] ^= 1 }
    return try settled(storage)
  }

  private static func settled(_ storage: SimulatedStorage) throws -> Start {
    let page = try Page.open(storage, .readOnly)
    var ledger = Ledger()
    ledger.settle(try page.table(), lsn: page.position.lsn)
    storage.forgetCalls()
    return Start(storage: storage, ledger: ledger)
  }
}
