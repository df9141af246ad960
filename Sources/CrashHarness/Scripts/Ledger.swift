import LogStore
import LogStoreTesting

/// A position that somebody was given, and what the page held there.
struct GivenPosition {
  var position: Position
  var print: Fingerprint
}

/// What a page's user knows: what was written, and what was promised of it.
struct Ledger {
  /// The state and LSN that the last opening showed.
  private(set) var base = OrderedTable()
  private(set) var baseLSN: UInt64 = 0
  /// Batches since, in order. At most the last ones may be in doubt.
  private(set) var batches: [[TableOperation]] = []
  /// How many of them were acknowledged at `.power`, at `.ordered` or better, and at any level.
  private(set) var durable = 0
  private(set) var ordered = 0
  private(set) var handedOver = 0
  /// Positions that the page's users were given, and what the page held there.
  private(set) var given: [GivenPosition] = []
  /// Whether a failed sync may have taken from the cache what was handed over.
  var cacheLies = false

  /// Whether somebody was told "outcome unknown" of the last batches, and no recovery has settled it since.
  private(set) var isInDoubt = false

  mutating func doubt(cacheLies lies: Bool) {
    isInDoubt = true
    cacheLies = cacheLies || lies
  }

  mutating func begin(_ batch: [TableOperation]) { batches.append(batch) }

  mutating func acknowledge(_ durability: Durability) {
    handedOver = batches.count
    if durability >= .ordered { ordered = batches.count }
    if durability == .power { durable = batches.count }
  }

  /// The batch that was begun is known not to have been written.
  mutating func refuse() { batches.removeLast() }

  mutating func acknowledgeSync() { acknowledge(.power) }

  mutating func acknowledgeHandedOver() {
    durable = max(durable, handedOver)
    ordered = durable
  }

  /// How many batches a crash must leave.
  func needed(after crash: CrashKind) -> Int {
    switch crash {
    case .killed: cacheLies ? ordered : handedOver
    case .powerLost: ordered
    case .driveCacheLost: durable
    }
  }

  /// After a crash: what was needed then is needed from now on.
  func crashed(_ crash: CrashKind) -> Ledger {
    // A killed process leaves the cache, which the power may still take.
    if crash == .killed { return self }
    var ledger = self
    ledger.durable = needed(after: crash)
    ledger.ordered = ledger.durable
    ledger.handedOver = ledger.durable
    ledger.cacheLies = false
    return ledger
  }

  /// A page was opened, or has recovered, and shows this, and all of it is durable.
  mutating func settle(_ table: OrderedTable, lsn: UInt64) {
    base = table
    baseLSN = lsn
    batches = []
    durable = 0
    ordered = 0
    handedOver = 0
    cacheLies = false
    isInDoubt = false
  }

  /// Somebody was given a position, behind all batches.
  ///
  /// - Returns: what is wrong with it; nil if nothing is.
  mutating func give(_ position: Position) -> String? { give(position, showing: Fingerprint(present)) }

  /// Somebody was given a position, with this state.
  ///
  /// - Returns: what is wrong with it; nil if nothing is.
  mutating func give(_ position: Position, showing print: Fingerprint) -> String? {
    if let objection = objection(toGiving: position, showing: print) { return objection }
    if given.last?.position != position { given.append(GivenPosition(position: position, print: print)) }
    return nil
  }

  /// A crash may reuse an LSN, never a position: whoever reads on from one would miss what stands there now.
  func objection(toGiving position: Position, showing print: Fingerprint) -> String? {
    // The latest first: it is nearly always the one.
    for other in given.reversed() where other.position == position {
      return other.print == print ? nil : "position \(position) was given before, with another state"
    }
    return nil
  }

  /// The state after all batches.
  var present: OrderedTable {
    var table = base
    for batch in batches { table.apply(batch) }
    return table
  }

  var presentLSN: UInt64 { baseLSN + batches.reduce(0) { $0 + UInt64($1.count) } }

  /// What is wrong with a state that is shown; nil if nothing is.
  func objection(to shown: OrderedTable, lsn: UInt64, needed: Int) -> String? {
    var table = base
    var count = baseLSN
    var matches: [String] = []
    for place in 0...batches.count {
      if place > 0 {
        table.apply(batches[place - 1])
        count += UInt64(batches[place - 1].count)
      }
      guard table == shown else { continue }
      if place < needed {
        matches.append("acknowledged batches are gone: \(place) of \(needed)")
      } else if count != lsn {
        matches.append("the records are those of batch \(place), the LSN is \(lsn) instead of \(count)")
      } else {
        return nil
      }
    }
    return matches.last
      ?? "no state in the history is like the one shown (LSN \(lsn), \(shown.records.map { String(decoding: $0.key, as: UTF8.self) }))"
      + " of \(batches.count) batches since LSN \(baseLSN), \(needed) needed"
  }
}
