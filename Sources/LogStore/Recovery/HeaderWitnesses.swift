/// What the headers that verify say of those that do not. One that was put together itself is no witness: which of them came
/// first would decide.
struct HeaderWitnesses {
  /// The salts of all journals, those of other pages too.
  private(set) var salts: Set<UInt64> = []
  /// The highest journal that follows bytes of a generation, by that generation.
  private(set) var successors: [UInt64: JournalHeader] = [:]
  /// Those of the page's journals, from the lowest up.
  private var journals: [JournalHeader] = []

  init(_ files: PageFiles, of id: PageID?) throws(LogStoreError) {
    for generation in files.listing.journals {
      guard let header = try files.look(atJournal: generation).file?.header, !header.isRebuilt else { continue }
      salts.insert(header.salt)
      guard header.id == id else { continue }
      journals.append(header)
      if let predecessor = header.predecessor, predecessor.end != 0 {
        successors[predecessor.generation] = header
      }
    }
  }

  func highest(below generation: UInt64) -> JournalHeader? {
    var (low, high) = (0, journals.count)
    while low < high {
      let middle = (low + high) / 2
      if journals[middle].generation < generation { low = middle + 1 } else { high = middle }
    }
    return low > 0 ? journals[low - 1] : nil
  }
}
