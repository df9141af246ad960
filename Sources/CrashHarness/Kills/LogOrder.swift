import LogStore

/// A batch that somebody began to write.
struct IssuedBatch {
  var operations: [TableOperation]
  var writer: Int
  /// The position behind it, where it was acknowledged.
  var position: Position?
}

/// Several writers' batches, held against what the page shows.
///
/// The order is the engine's, and the positions that acknowledgements carry tell it. Batches without one, at most the
/// last of each writer, fill the gaps, each after its writer's others, or are not there.
struct LogOrder {
  private let base: OrderedTable
  private let baseLSN: UInt64
  private let issued: [IssuedBatch]
  /// In the order of their positions.
  private let acknowledged: [IssuedBatch]
  private let open: [IssuedBatch]

  /// - Parameter issued: each writer's in the order in which it began them.
  init(base: OrderedTable, baseLSN: UInt64, _ issued: [IssuedBatch]) {
    self.issued = issued
    self.base = base
    self.baseLSN = baseLSN
    acknowledged = issued.filter { $0.position != nil }.sorted { $0.position!.lsn < $1.position!.lsn }
    open = issued.filter { $0.position == nil }
  }

  /// What is wrong with a state that is shown after a kill; nil if nothing is.
  func objection(to shown: OrderedTable, lsn: UInt64) -> String? {
    if let objection = objectionToOrder(upTo: lsn) { return objection }
    if fits(shown, lsn, 0, baseLSN, base, open) { return nil }
    return "no order of the batches gives what is shown at LSN \(lsn): \(acknowledged.count) acknowledged, "
      + "\(open.count) open since LSN \(baseLSN); shown: "
      + shown.records.map { "\(String(decoding: $0.key, as: UTF8.self))(\($0.value.count))" }.joined(separator: " ")
  }

  /// Whether the acknowledgements contradict each other, their writers' order, or the LSN.
  private func objectionToOrder(upTo lsn: UInt64) -> String? {
    var end = baseLSN
    for batch in acknowledged {
      let position = batch.position!
      guard position.lsn >= end + UInt64(batch.operations.count) else {
        return "two acknowledged batches claim LSN \(position.lsn)"
      }
      end = position.lsn
    }
    var latest: [Int: UInt64] = [:]
    for batch in issued {
      let lsn = batch.position?.lsn ?? .max
      guard lsn > latest[batch.writer, default: 0] else { return "a writer's batches are not in its order: LSN \(lsn)" }
      latest[batch.writer] = lsn
    }
    guard end <= lsn else { return "acknowledged up to LSN \(end), shown up to \(lsn)" }
    return nil
  }

  /// Whether the batches from `place` on, with some of the open ones between, lead from a state to the one shown.
  private func fits(
    _ shown: OrderedTable, _ lsn: UInt64, _ place: Int, _ count: UInt64, _ table: OrderedTable,
    _ open: [IssuedBatch]
  ) -> Bool {
    var (place, count, table) = (place, count, table)
    while place < acknowledged.count {
      let next = acknowledged[place]
      guard next.position!.lsn - UInt64(next.operations.count) == count else { break }
      table.apply(next.operations)
      count = next.position!.lsn
      place += 1
    }
    if place == acknowledged.count, count == lsn { return table == shown }
    let limit =
      place == acknowledged.count
      ? lsn : acknowledged[place].position!.lsn - UInt64(acknowledged[place].operations.count)
    for index in open.indices where count + UInt64(open[index].operations.count) <= limit {
      // A writer begins nothing before its last batch was answered.
      if acknowledged[place...].contains(where: { $0.writer == open[index].writer }) { continue }
      var (rest, tried) = (open, table)
      tried.apply(rest.remove(at: index).operations)
      let behind = count + UInt64(open[index].operations.count)
      if fits(shown, lsn, place, behind, tried, rest) { return true }
    }
    return false
  }
}
