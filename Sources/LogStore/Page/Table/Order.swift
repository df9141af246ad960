/// The order of the records: a counted B+tree whose leaves hold pieces.
///
/// Ranges of the base stand in it in increasing order of index, because a base record that is replaced or moved becomes
/// a record of the overlay. So a base index can be looked up by the separators, and one that is not found is not, or no
/// longer, in the table's base: removals leave no tombstones.
struct Order: Sendable {
  var root: SlotRef
  var lastLeaf: SlotRef
  let leafLimit: Int
  let innerLimit: Int

  /// A change of a leaf's number of records that its ancestors have not been told yet. Several changes in a row to one
  /// leaf then cost one walk up the tree.
  var changedLeaf: SlotRef = .none
  var change = 0

  /// A piece, and how many of its records come before the place that was looked for.
  struct Place {
    var leaf: SlotRef
    var index: Int
    var offset: Int
  }

  init(shape: TableShape, baseCount: Int, memory: inout PagedMemory) {
    leafLimit = min(shape.leafEntries, OrderNode.leafCapacity)
    innerLimit = min(shape.innerEntries, OrderNode.innerCapacity)
    let slot: MemorySlot
    (root, slot) = memory.allocateSlot(units: OrderNode.units)
    lastLeaf = root
    let leaf = OrderNode(slot: slot)
    leaf.reset(height: 0)
    if baseCount > 0 {
      leaf.setEntry(0, OrderEntry(base: 0..<baseCount))
      leaf.count = 1
      leaf.ranges = 1
    }
  }

  // MARK: Looking up

  @inline(__always)
  func node(_ ref: SlotRef, _ map: PageMap) -> OrderNode { OrderNode(slot: map.slot(ref)) }

  func place(ofRecord record: SlotRef, _ map: PageMap) -> Place {
    let leaf = RecordSlot(slot: map.slot(record)).leaf
    return Place(leaf: leaf, index: node(leaf, map).index(of: record), offset: 0)
  }

  /// Where the base's record `index` is; nil if it is not there any more.
  func place(ofBase index: Int, _ map: PageMap) -> Place? {
    var ref = root
    var node = node(ref, map)
    while node.height > 0 {
      var i = 0
      while i < node.count, node.end(i) <= index { i += 1 }
      if i == node.count { return nil }
      ref = node.child(i)
      node = self.node(ref, map)
    }
    for i in 0..<node.count {
      let entry = node.entry(i)
      guard entry.isRange, entry.base.upperBound > index else { continue }
      let offset = index - entry.base.lowerBound
      return offset >= 0 ? Place(leaf: ref, index: i, offset: offset) : nil
    }
    return nil
  }

  /// Where the record of rank `rank` is, which must be less than the number of records.
  func place(ofRank rank: Int, _ map: PageMap) -> Place {
    var left = rank
    var ref = root
    var node = node(ref, map)
    while node.height > 0 {
      var i = 0
      while left >= node.size(i) {
        left -= node.size(i)
        i += 1
      }
      ref = node.child(i)
      node = self.node(ref, map)
    }
    if node.ranges == 0 { return Place(leaf: ref, index: left, offset: 0) }
    var i = 0
    while left >= node.entry(i).count {
      left -= node.entry(i).count
      i += 1
    }
    return Place(leaf: ref, index: i, offset: left)
  }

  func rank(of place: Place, _ map: PageMap) -> Int {
    var ref = place.leaf
    var node = node(ref, map)
    var rank = node.records(before: place.index) + place.offset
    while !node.parent.isNone {
      let parent = self.node(node.parent, map)
      rank += parent.sizes(before: parent.index(ofChild: ref))
      ref = node.parent
      node = parent
    }
    return rank
  }

  func leaf(after leaf: SlotRef, _ map: PageMap) -> SlotRef {
    var ref = leaf
    while true {
      let parent = node(ref, map).parent
      if parent.isNone { return .none }
      let above = node(parent, map)
      let index = above.index(ofChild: ref) + 1
      if index < above.count {
        ref = above.child(index)
        break
      }
      ref = parent
    }
    while node(ref, map).height > 0 { ref = node(ref, map).child(0) }
    return ref
  }

  // MARK: Counting

  /// Notes that `leaf` has `delta` records more.
  @inline(__always)
  mutating func count(_ leaf: SlotRef, _ delta: Int, _ memory: inout PagedMemory) {
    if leaf != changedLeaf {
      settle(&memory)
      changedLeaf = leaf
    }
    change &+= delta
  }

  /// Tells the ancestors of the changed leaf. Must come before a leaf is split, merged or freed, and before a view.
  mutating func settle(_ memory: inout PagedMemory) {
    let delta = change
    var ref = changedLeaf
    change = 0
    changedLeaf = .none
    if delta == 0 { return }
    var parent = node(ref, memory.map).parent
    while !parent.isNone {
      let above = OrderNode(slot: memory.writableSlot(parent))
      above.addSize(above.index(ofChild: ref), delta)
      ref = parent
      parent = above.parent
    }
  }
}
