/// The generations that lead to a page's present state, as far back as their files tell.
struct Descent {
  /// Those that the journal behind them names, whether their files are there or not.
  private(set) var linked: Set<UInt64> = []
  /// Those that are taken for what a journal follows whose header cannot be had.
  private var assumed: Set<UInt64> = []
  /// Below this one nothing tells any more what led to the state: an earlier compaction has removed what stood there, or was
  /// about to.
  private var lowest = UInt64.max

  /// - Parameters:
  ///   - numbers: the journals that there are, in order.
  ///   - journals: what is known of them.
  ///   - id: the page's identity.
  init(from numbers: [UInt64], _ journals: [UInt64: PageFiles.Candidate<JournalSight>], _ id: PageID?) {
    func usable(_ number: UInt64) -> JournalHeader? {
      guard let header = journals[number]?.file?.header, header.id == id else { return nil }
      return header
    }
    var place = numbers.count - 1
    var next = numbers.last
    while let number = next {
      lowest = number
      while place >= 0, numbers[place] > number { place -= 1 }
      guard place >= 0, numbers[place] == number else {
        linked.insert(number)
        return
      }
      if let header = usable(number) {
        if !assumed.contains(number) { linked.insert(number) }
        next = header.predecessor?.generation
        // It follows the snapshot; a journal of that number was not there, or not to be had.
        if let next, header.predecessor?.end == 0 { assumed.insert(next) }
        continue
      }
      linked.insert(number)
      // As for any header that is lost: it is taken to follow the next lower journal that has one.
      next = numbers[..<place].last { usable($0) != nil }
      if let next { assumed.insert(next) }
    }
  }

  /// Whether the way to the present state leads past a generation from above to below: so it is no part of it.
  func passesOver(_ generation: UInt64) -> Bool { generation > lowest && !assumed.contains(generation) }
}
