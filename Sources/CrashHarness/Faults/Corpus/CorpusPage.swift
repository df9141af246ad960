import LogStore
import LogStoreTesting

/// A small page, whole, of which the harness knows every batch: something to damage.
struct CorpusPage: Sendable {
  var name: String
  /// The disk that it stands on, at `pagePath`.
  var disk: SimulatedStorage
  var isApplication: Bool
  /// The batches that are in the state, in order.
  var history: [[TableOperation]]
  /// The state that must be shown, in front of each batch and behind the last.
  var states: [OrderedTable]
  /// The LSN in front of each batch, and behind the last.
  var lsns: [UInt64]
  var files: [String: [UInt8]]
  var anatomy: PageAnatomy
  /// In front of which batches a recovery has dropped others: every opening reports it.
  var losses: [Int]

  var truth: OrderedTable { states[states.count - 1] }
  var lsn: UInt64 { lsns[lsns.count - 1] }
  var bytes: Int { files.values.reduce(0) { $0 + $1.count } }
  /// In an order that never changes.
  var names: [String] { files.keys.sorted() }

  init(
    _ name: String, _ disk: SimulatedStorage, isApplication: Bool = false, history: [[TableOperation]],
    lostOperations: [Int: UInt64] = [:]
  ) throws {
    self.name = name
    self.disk = disk
    self.isApplication = isApplication
    self.history = history
    files = disk.files(in: pagePath)
    states = [OrderedTable()]
    lsns = [lostOperations[0] ?? 0]
    for (index, batch) in history.enumerated() {
      var next = states[index]
      next.apply(batch)
      states.append(next)
      lsns.append(lsns[index] + UInt64(batch.count) + (lostOperations[index + 1] ?? 0))
    }
    losses = lostOperations.keys.sorted()
    anatomy = PageAnatomy(files, lsns: lsns)
    let sight = Sight(of: disk, isApplication: isApplication, policy: .salvage)
    guard case .shown(let shown) = sight, shown.table == truth, shown.lsn == lsn else {
      throw Disagreement("the page \(name) of the corpus is not what was written: \(sight), \(lsn) expected")
    }
  }
}
