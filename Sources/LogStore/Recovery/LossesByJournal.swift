/// Losses by the journal whose bytes they dropped.
struct LossesByJournal {
  private var losses: [Key: [LossRecord]] = [:]

  private struct Key: Hashable {
    var generation: UInt64
    var salt: UInt64
  }

  init(_ losses: [LossRecord]) { add(losses) }

  mutating func add(_ found: [LossRecord]) {
    for loss in found { losses[Key(generation: loss.generation, salt: loss.salt), default: []].append(loss) }
  }

  /// Those that dropped bytes of the journal, in the order of its file.
  func naming(_ journal: JournalFile) -> [LossRecord] {
    guard !losses.isEmpty else { return [] }
    return losses[Key(generation: journal.generation, salt: journal.header.salt), default: []]
      .sorted { $0.start < $1.start }
  }
}
