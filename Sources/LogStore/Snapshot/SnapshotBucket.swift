/// A bucket of the key table: tags, then the indices of the records that they stand for.
enum SnapshotBucket {
  /// The records that a search for a tag comes to in one bucket.
  struct Matches {
    /// Almost always all that there are, so that they cost no memory.
    private var first: UInt32?
    private var others: [UInt32] = []
    /// Whether the search goes on in the next bucket: only a full one sends it there.
    var goesOn: Bool

    init(goesOn: Bool) { self.goesOn = goesOn }

    mutating func append(_ index: UInt32) {
      if first == nil { first = index } else { others.append(index) }
    }

    mutating func popFirst() -> UInt32? {
      guard let index = first else { return nil }
      first = others.isEmpty ? nil : others.removeFirst()
      return index
    }
  }

  static func matches(_ tag: UInt32, in bucket: RawSpan) -> Matches {
    var matches = Matches(goesOn: self.index(SnapshotLayout.bucketSlots - 1, in: bucket) != SnapshotLayout.emptySlot)
    var slot = 0
    while let next = bucket.place(of: tag, from: slot, upTo: SnapshotLayout.bucketSlots) {
      let index = index(next, in: bucket)
      // Slots fill from the start, so an empty one is the end of the search.
      if index == SnapshotLayout.emptySlot {
        matches.goesOn = false
        return matches
      }
      matches.append(index)
      slot = next + 1
    }
    return matches
  }

  @inline(__always)
  static func index(_ slot: Int, in bucket: RawSpan) -> UInt32 {
    bucket.u32((SnapshotLayout.bucketSlots &+ slot) &* 4)
  }

  enum Search {
    /// With the records of the same tag that a search comes to before.
    case found([Int])
    case absent
    case further
  }

  /// What a search for a record's key comes to in one bucket.
  static func search(_ entry: KeyEntry, in bucket: RawSpan) -> Search {
    let tag = UInt32(truncatingIfNeeded: entry.hash)
    var earlier: [Int] = []
    var slot = 0
    while let next = bucket.place(of: tag, from: slot, upTo: SnapshotLayout.bucketSlots) {
      let index = index(next, in: bucket)
      slot = next + 1
      if index == SnapshotLayout.emptySlot { return .absent }
      if index == entry.index { return isReached(next, in: bucket) ? .found(earlier) : .absent }
      earlier.append(Int(index))
    }
    return isReached(SnapshotLayout.bucketSlots, in: bucket) ? .further : .absent
  }

  /// How many slots are taken in front of the first empty one.
  static func taken(_ bucket: RawSpan) -> Int {
    let indices = SnapshotLayout.bucketSlots
    return (bucket.place(of: SnapshotLayout.emptySlot, from: indices, upTo: 2 * indices) ?? 2 * indices) - indices
  }

  /// Whether no slot in front of `slot` is empty.
  private static func isReached(_ slot: Int, in bucket: RawSpan) -> Bool {
    let indices = SnapshotLayout.bucketSlots
    return bucket.place(of: SnapshotLayout.emptySlot, from: indices, upTo: indices + slot) == nil
  }

  /// How many slots of a bucket are taken; nil unless it is filled from its start, with possible records, and empty
  /// behind them.
  static func slots(_ bucket: RawSpan, count: Int) -> Int? {
    var taken = 0
    for slot in 0..<SnapshotLayout.bucketSlots {
      let index = index(slot, in: bucket)
      if index == SnapshotLayout.emptySlot {
        guard bucket.u32(slot &* 4) == 0 else { return nil }
      } else {
        guard taken == slot, Int(index) < count else { return nil }
        taken += 1
      }
    }
    return taken
  }
}
