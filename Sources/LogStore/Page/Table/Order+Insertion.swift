extension Order {
  mutating func append(_ record: SlotRef, _ memory: inout PagedMemory) {
    append(record, RecordSlot(slot: memory.writableSlot(record)), &memory)
  }

  /// The same, for a record that may be written at `slot`.
  @inline(__always)
  mutating func append(_ record: SlotRef, _ slot: RecordSlot, _ memory: inout PagedMemory) {
    let leaf = lastLeaf
    let node = OrderNode(slot: memory.writableSlot(leaf))
    let end = node.count
    if end >= leafLimit { return splice(leaf, end, removing: 0, [OrderEntry(record)], &memory) }
    node.setEntry(end, OrderEntry(record))
    node.count = end &+ 1
    slot.leaf = leaf
    count(leaf, 1, &memory)
  }

  /// Inserts `record` in front of the record at `place`.
  mutating func insert(_ record: SlotRef, before place: Place, _ memory: inout PagedMemory) {
    if place.offset == 0 {
      splice(place.leaf, place.index, removing: 0, [OrderEntry(record)], &memory)
    } else {
      let base = node(place.leaf, memory.map).entry(place.index).base
      let middle = base.lowerBound + place.offset
      let first = OrderEntry(base: base.lowerBound..<middle)
      let last = OrderEntry(base: middle..<base.upperBound)
      splice(place.leaf, place.index, removing: 1, [first, OrderEntry(record), last], &memory)
    }
  }

  /// Takes the base's record at `place` out of its range, and puts `record` there if there is one.
  mutating func replaceBase(at place: Place, with record: SlotRef, _ memory: inout PagedMemory) {
    let base = node(place.leaf, memory.map).entry(place.index).base
    let index = base.lowerBound + place.offset
    var pieces = Pieces()
    if base.lowerBound < index { pieces.append(OrderEntry(base: base.lowerBound..<index)) }
    if !record.isNone { pieces.append(OrderEntry(record)) }
    if index + 1 < base.upperBound { pieces.append(OrderEntry(base: index + 1..<base.upperBound)) }
    if pieces.count > 0 {
      splice(place.leaf, place.index, removing: 1, pieces, &memory)
    } else {
      removeEntry(place.leaf, place.index, &memory)
    }
  }

  /// At most three entries, without an allocation.
  struct Pieces: ExpressibleByArrayLiteral {
    private(set) var count = 0
    private var entries = (OrderEntry(raw: 0), OrderEntry(raw: 0), OrderEntry(raw: 0))

    init() {}

    @inline(__always)
    init(arrayLiteral elements: OrderEntry...) {
      for element in elements { append(element) }
    }

    @inline(__always)
    mutating func append(_ entry: OrderEntry) {
      switch count {
      case 0: entries.0 = entry
      case 1: entries.1 = entry
      default: entries.2 = entry
      }
      count += 1
    }

    subscript(index: Int) -> OrderEntry {
      switch index {
      case 0: entries.0
      case 1: entries.1
      default: entries.2
      }
    }
  }

  /// Replaces `removing` (0 or 1) entries of a leaf at `index` by `pieces`, of which there are one to three.
  private mutating func splice(
    _ leaf: SlotRef, _ index: Int, removing: Int, _ pieces: Pieces, _ memory: inout PagedMemory
  ) {
    var leaf = leaf
    var index = index
    if node(leaf, memory.map).count + pieces.count - removing > leafLimit {
      let (right, at) = splitLeaf(leaf, inserting: index, &memory)
      // An entry that is replaced must be found on its side.
      if index > at || (index == at && (removing > 0 || at == 0 || isEmpty(right, memory))) {
        leaf = right
        index -= at
      }
    }
    let node = OrderNode(slot: memory.writableSlot(leaf))
    var delta = 0
    if removing > 0 {
      let old = node.entry(index)
      delta -= old.count
      if old.isRange { node.ranges -= 1 }
    }
    let tail = index + removing
    node.moveEntries(from: tail, to: index + pieces.count, count: node.count - tail)
    node.count += pieces.count - removing
    for i in 0..<pieces.count {
      let piece = pieces[i]
      node.setEntry(index + i, piece)
      delta += piece.count
      if piece.isRange {
        node.ranges += 1
      } else {
        RecordSlot(slot: memory.writableSlot(piece.record)).leaf = leaf
      }
    }
    count(leaf, delta, &memory)
  }

  private func isEmpty(_ leaf: SlotRef, _ memory: PagedMemory) -> Bool { node(leaf, memory.map).count == 0 }

  // MARK: Splitting

  @inline(never)
  private mutating func splitLeaf(
    _ leaf: SlotRef, inserting index: Int, _ memory: inout PagedMemory
  ) -> (right: SlotRef, at: Int) {
    settle(&memory)
    let (right, slot) = memory.allocateSlot(units: OrderNode.units)
    let new = OrderNode(slot: slot)
    let old = OrderNode(slot: memory.writableSlot(leaf))
    new.reset(height: 0)
    // What comes one after the other at an end leaves full leaves behind: new records, and changes of the base's from its
    // first on, or from its last back. Those cut a piece off the rest of the base, the leaf's last entry, or its first.
    let at =
      switch index {
      case old.count - 1, old.count: index
      case 0: 1
      default: old.count / 2
      }
    let moved = old.count - at
    new.copyEntries(of: old, from: at, to: 0, count: moved)
    new.count = moved
    old.count = at
    let ranges = adopt(entriesOf: new, 0..<moved, by: right, &memory)
    new.ranges = ranges
    old.ranges -= ranges
    if leaf == lastLeaf { lastLeaf = right }
    insertSibling(
      right, size: new.records(before: moved), end: new.leafEnd, after: leaf, leftEnd: old.leafEnd, &memory)
    return (right, at)
  }

  /// Tells the records of some entries which leaf they are in; returns how many entries are ranges.
  func adopt(entriesOf node: OrderNode, _ indices: Range<Int>, by leaf: SlotRef, _ memory: inout PagedMemory) -> Int {
    var ranges = 0
    for i in indices {
      let entry = node.entry(i)
      if entry.isRange {
        ranges += 1
      } else {
        RecordSlot(slot: memory.writableSlot(entry.record)).leaf = leaf
      }
    }
    return ranges
  }

  /// Puts `right`, to which `size` records of `left` were moved, next to it.
  private mutating func insertSibling(
    _ right: SlotRef, size: Int, end: Int, after left: SlotRef, leftEnd: Int, _ memory: inout PagedMemory
  ) {
    var parent = node(left, memory.map).parent
    if parent.isNone {
      let slot: MemorySlot
      (parent, slot) = memory.allocateSlot(units: OrderNode.units)
      let top = OrderNode(slot: slot)
      let below = OrderNode(slot: memory.writableSlot(left))
      top.reset(height: below.height + 1)
      let count = below.height == 0 ? below.records(before: below.count) : below.sizes(before: below.count)
      top.setChild(0, left, size: count + size, end: leftEnd)
      top.count = 1
      below.parent = parent
      root = parent
    } else if node(parent, memory.map).count >= innerLimit {
      splitInner(parent, inserting: node(parent, memory.map).index(ofChild: left) + 1, &memory)
      parent = node(left, memory.map).parent
    }
    let above = OrderNode(slot: memory.writableSlot(parent))
    let index = above.index(ofChild: left)
    above.setChild(index, left, size: above.size(index) - size, end: leftEnd)
    above.moveChildren(from: index + 1, to: index + 2, count: above.count - index - 1)
    above.setChild(index + 1, right, size: size, end: end)
    above.count += 1
    OrderNode(slot: memory.writableSlot(right)).parent = parent
  }

  private mutating func splitInner(_ ref: SlotRef, inserting index: Int, _ memory: inout PagedMemory) {
    let (right, slot) = memory.allocateSlot(units: OrderNode.units)
    let new = OrderNode(slot: slot)
    let old = OrderNode(slot: memory.writableSlot(ref))
    new.reset(height: old.height)
    let at = index == old.count ? old.count - 1 : old.count / 2
    let moved = old.count - at
    new.copyChildren(of: old, from: at, to: 0, count: moved)
    new.count = moved
    old.count = at
    for i in 0..<moved { OrderNode(slot: memory.writableSlot(new.child(i))).parent = right }
    insertSibling(
      right, size: new.sizes(before: moved), end: new.innerEnd, after: ref, leftEnd: old.innerEnd, &memory)
  }
}
