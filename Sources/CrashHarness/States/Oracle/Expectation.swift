import LogStore
import LogStoreTesting

/// The states that a page may show after a crash, worked out once for all crashes at which the same was promised.
final class Expectation: Sendable {
  fileprivate struct State {
    var lsn: UInt64
    var print: UInt64
  }

  let ledger: Ledger
  /// Whether somebody was told that the page is there.
  let exists: Bool
  /// The states after each number of batches, from none to all.
  fileprivate let states: [State]
  /// Stands for the positions that were given.
  fileprivate let given: UInt64

  init(_ ledger: Ledger, exists: Bool) {
    self.ledger = ledger
    self.exists = exists
    var table = ledger.base
    var lsn = ledger.baseLSN
    var states = [State(lsn: lsn, print: Fingerprint(table).value)]
    for batch in ledger.batches {
      table.apply(batch)
      lsn += UInt64(batch.count)
      states.append(State(lsn: lsn, print: Fingerprint(table).value))
    }
    self.states = states
    given = ledger.given.reduce(0) { $0 &+ $1.hash }
  }

  /// Whether a page may show this: what was acknowledged is there, and nothing but a prefix of what was written.
  func allows(_ print: Fingerprint, lsn: UInt64, after crash: CrashKind) -> Bool {
    let needed = ledger.needed(after: crash)
    return states[needed...].contains { $0.lsn == lsn && $0.print == print.value }
  }
}

extension Expectation {
  /// What is known when the next process comes.
  func crashed(_ crash: CrashKind) -> Expectation { Expectation(ledger.crashed(crash), exists: exists) }

  /// Stands for what is allowed after a crash.
  func hash(after crash: CrashKind) -> UInt64 {
    var print = Fingerprint()
    for state in states[ledger.needed(after: crash)...] {
      print.add(state.lsn)
      print.add(state.print)
    }
    print.add(given)
    print.add(exists ? 1 : 0)
    return print.value
  }
}

extension GivenPosition {
  fileprivate var hash: UInt64 {
    var print = print
    print.add(position.salt)
    print.add(position.lsn)
    return print.value
  }
}

/// How the process ended.
enum CrashKind: Equatable {
  case killed
  /// The power went, where a sync at `.ordered` is a full one.
  case powerLost
  /// The power went, and of what was only put in order the drive may have written any first part.
  case driveCacheLost

  /// A crash under a profile; nil where the power stayed.
  init(_ profile: CrashProfile?) {
    self = profile.map { $0.orderedSyncsAreDurable ? .powerLost : .driveCacheLost } ?? .killed
  }
}

extension Ledger {
  /// How many batches a crash must leave. What it leaves of the drive's cache is the simulated disk's own business.
  func needed(after crash: Crash) -> Int { needed(after: crash == .kill ? .killed : .powerLost) }

  /// After a crash: what was needed then is needed from now on.
  func crashed(_ crash: Crash) -> Ledger { crashed(crash == .kill ? .killed : .powerLost) }
}
