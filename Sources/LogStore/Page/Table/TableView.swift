/// A table as it was at one moment. Immutable; may be read from many threads while the table changes.
///
/// Holding a view keeps the memory that it sees; pages that changed since are given back when it goes.
struct TableView: Sendable {
  let root: ViewRoot
  let index: KeyIndex
  let order: Order
  let base: (any RecordBase)?
  let hash: KeyHash
  let count: Int

  /// A piece of the page in its order: a run of the base's records, or a record whose value lies in a journal.
  enum Piece: ~Escapable {
    case base(Range<Int>)
    case journal(key: RawSpan, ValueLocation)
  }

  /// Where the value of a record is; nil if there is no such record. Reads the base if the overlay does not have it.
  func find(_ key: RawSpan) throws(LogStoreError) -> RecordRef? {
    try withMap { map throws(LogStoreError) in
      let record = index.find(key, tag: hash.tag(key), map)
      if !record.isNone { return RecordSlot(slot: map.slot(record)).value }
      guard let base, let found = try base.index(of: key), order.place(ofBase: found, map) != nil else { return nil }
      return .base(found)
    }
  }

  /// The same for the overlay alone: nil where only the base can tell.
  func overlayRef(of key: RawSpan) -> RecordRef? {
    withMap { map in
      let record = index.find(key, tag: hash.tag(key), map)
      return record.isNone ? nil : RecordSlot(slot: map.slot(record)).value
    }
  }

  /// Whether the base's record at `index` is still part of the table, as it is in the base.
  func holds(base index: Int) -> Bool { withMap { map in order.place(ofBase: index, map) != nil } }

  /// The rank of a record in page order. O(log n).
  func index(of key: RawSpan) throws(LogStoreError) -> Int? {
    try withMap { map throws(LogStoreError) in
      let record = index.find(key, tag: hash.tag(key), map)
      if !record.isNone { return order.rank(of: order.place(ofRecord: record, map), map) }
      guard let base, let found = try base.index(of: key), let place = order.place(ofBase: found, map) else {
        return nil
      }
      return order.rank(of: place, map)
    }
  }

  /// Where the value of the record of rank `index` is. O(log n).
  func ref(at index: Int) -> RecordRef {
    precondition(index >= 0 && index < count, "the index is out of range")
    return withMap { map in
      let place = order.place(ofRank: index, map)
      let entry = order.node(place.leaf, map).entry(place.index)
      if entry.isRange { return .base(entry.base.lowerBound + place.offset) }
      return RecordSlot(slot: map.slot(entry.record)).value
    }
  }

  /// The key of the record of rank `index`, if the overlay has it; otherwise where the base has it.
  func withKey<R, E: Error>(at index: Int, _ body: (RawSpan?, RecordRef) throws(E) -> R) throws(E) -> R {
    precondition(index >= 0 && index < count, "the index is out of range")
    return try withMap { map throws(E) in
      let place = order.place(ofRank: index, map)
      let entry = order.node(place.leaf, map).entry(place.index)
      if entry.isRange { return try body(nil, .base(entry.base.lowerBound + place.offset)) }
      let record = RecordSlot(slot: map.slot(entry.record))
      return try record.withKey { key throws(E) in try body(key, record.value) }
    }
  }

  /// Calls `body` with the pieces of `range` in page order, until it returns false.
  ///
  /// Base records that were moved come as runs of one. A key is valid during the call.
  func forEachPiece<E: Error>(in range: Range<Int>, _ body: (borrowing Piece) throws(E) -> Bool) throws(E) {
    precondition(range.lowerBound >= 0 && range.upperBound <= count, "the range is out of bounds")
    var left = range.count
    if left == 0 { return }
    let root = root
    defer { withExtendedLifetime(root) {} }
    let map = root.root.map
    var place = order.place(ofRank: range.lowerBound, map)
    while left > 0 {
      let node = order.node(place.leaf, map)
      if place.index == node.count {
        place = Order.Place(leaf: order.leaf(after: place.leaf, map), index: 0, offset: 0)
        continue
      }
      let entry = node.entry(place.index)
      if entry.isRange {
        let start = entry.base.lowerBound + place.offset
        let end = min(entry.base.upperBound, start + left)
        if try !body(.base(start..<end)) { return }
        left -= end - start
      } else {
        let record = RecordSlot(slot: map.slot(entry.record))
        switch record.value {
        case .base(let moved): if try !body(.base(moved..<moved + 1)) { return }
        case .journal(let location):
          // The error is carried out by hand: thrown through two generic closures it arrives as garbage (Swift 6.3).
          var failure: E?
          let goesOn = record.withKey { key in
            do throws(E) {
              return try body(.journal(key: key, location))
            } catch {
              failure = error
              return false
            }
          }
          if let failure { throw failure }
          if !goesOn { return }
        }
        left -= 1
      }
      place.index += 1
      place.offset = 0
    }
  }

  /// Addresses are good only while the root is held.
  @inline(__always)
  private func withMap<R, E: Error>(_ body: (PageMap) throws(E) -> R) throws(E) -> R {
    let root = root
    defer { withExtendedLifetime(root) {} }
    return try body(root.root.map)
  }
}
