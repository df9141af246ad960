import LogStore
import LogStoreTesting

/// What one writer of a child does, act by act: a function of the seed alone, so the parent knows it too.
struct WriterScript {
  enum Face: CaseIterable {
    case blocking
    case asynchronous
    /// A task that is cancelled while it writes.
    case cancelled
  }

  struct Act {
    var operations: [TableOperation]
    var durability: Durability
    var face: Face
    /// Whether the page must be where the writer last saw it.
    var demandsPosition: Bool
  }

  let seed: UInt64
  let writer: Int

  func act(_ index: Int) -> Act {
    var random = SeededRandom(seed: seed ^ UInt64(writer + 1) << 48 ^ UInt64(index + 1) << 24)
    // The first number of neighbouring seeds is mixed, but the seeds are in an order that batches should not be.
    _ = random.next()
    return Act(
      operations: Script.batch(&random),
      durability: [.process, .process, .process, .ordered, .power].randomElement(using: &random)!,
      face: [.blocking, .blocking, .asynchronous, .asynchronous, .cancelled].randomElement(using: &random)!,
      demandsPosition: random.next() % 16 == 0)
  }
}
