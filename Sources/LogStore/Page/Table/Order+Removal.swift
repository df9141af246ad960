extension Order {
  /// Takes a record of the overlay out of the order. Its slot stays.
  mutating func remove(_ record: SlotRef, _ memory: inout PagedMemory) {
    let place = place(ofRecord: record, memory.map)
    removeEntry(place.leaf, place.index, &memory)
  }

  mutating func removeEntry(_ leaf: SlotRef, _ index: Int, _ memory: inout PagedMemory) {
    let node = OrderNode(slot: memory.writableSlot(leaf))
    let entry = node.entry(index)
    count(leaf, -entry.count, &memory)
    if entry.isRange { node.ranges -= 1 }
    node.moveEntries(from: index + 1, to: index, count: node.count - index - 1)
    node.count -= 1
    joinRanges(node, at: index)
    if node.count == 0 {
      settle(&memory)
      removeNode(leaf, &memory)
      if leaf == lastLeaf { lastLeaf = rightmostLeaf(memory.map) }
    } else if node.count < leafLimit / 4 {
      merge(leaf, &memory)
    }
  }

  /// Two halves of a range that met again become one, so that churn between base records leaves no splinters.
  private func joinRanges(_ node: OrderNode, at index: Int) {
    guard node.ranges > 1, index > 0, index < node.count else { return }
    let (left, right) = (node.entry(index - 1), node.entry(index))
    guard left.isRange, right.isRange, left.base.upperBound == right.base.lowerBound else { return }
    node.setEntry(index - 1, OrderEntry(base: left.base.lowerBound..<right.base.upperBound))
    node.moveEntries(from: index + 1, to: index, count: node.count - index - 1)
    node.count -= 1
    node.ranges -= 1
  }

  /// Frees a node that has become empty. An empty root stays, as a leaf.
  private mutating func removeNode(_ ref: SlotRef, _ memory: inout PagedMemory) {
    let parent = node(ref, memory.map).parent
    if parent.isNone {
      return OrderNode(slot: memory.writableSlot(ref)).reset(height: 0)
    }
    let above = OrderNode(slot: memory.writableSlot(parent))
    removeChild(above, above.index(ofChild: ref))
    memory.freeSlot(ref, units: OrderNode.units)
    if above.count == 0 { return removeNode(parent, &memory) }
    if parent == root {
      shrinkRoot(&memory)
    } else if above.count < innerLimit / 4 {
      merge(parent, &memory)
    }
  }

  private func removeChild(_ node: OrderNode, _ index: Int) {
    node.moveChildren(from: index + 1, to: index, count: node.count - index - 1)
    node.count -= 1
  }

  private func rightmostLeaf(_ map: PageMap) -> SlotRef {
    var ref = root
    var node = node(ref, map)
    while node.height > 0 {
      ref = node.child(node.count - 1)
      node = self.node(ref, map)
    }
    return ref
  }

  private mutating func shrinkRoot(_ memory: inout PagedMemory) {
    while true {
      let top = node(root, memory.map)
      if top.height == 0 || top.count > 1 { return }
      let child = top.child(0)
      memory.freeSlot(root, units: OrderNode.units)
      OrderNode(slot: memory.writableSlot(child)).parent = .none
      root = child
    }
  }

  /// Joins a node that has become sparse with a neighbour under the same parent, if one node can hold both with room
  /// to spare.
  @inline(never)
  private mutating func merge(_ ref: SlotRef, _ memory: inout PagedMemory) {
    let parent = node(ref, memory.map).parent
    if parent.isNone { return }
    let above = node(parent, memory.map)
    let isLeaf = above.height == 1
    let limit = (isLeaf ? leafLimit : innerLimit) * 3 / 4
    var index = above.index(ofChild: ref)
    if !fits(above, index, limit, memory.map) {
      index -= 1
      if !fits(above, index, limit, memory.map) { return }
    }
    let (left, right) = (above.child(index), above.child(index + 1))

    settle(&memory)
    let target = OrderNode(slot: memory.writableSlot(left))
    let source = OrderNode(slot: memory.writableSlot(right))
    let (start, moved) = (target.count, source.count)
    if isLeaf {
      target.copyEntries(of: source, from: 0, to: start, count: moved)
      target.ranges += adopt(entriesOf: target, start..<start + moved, by: left, &memory)
      target.count = start + moved
      joinRanges(target, at: start)
      if right == lastLeaf { lastLeaf = left }
    } else {
      target.copyChildren(of: source, from: 0, to: start, count: moved)
      target.count = start + moved
      for i in start..<start + moved { OrderNode(slot: memory.writableSlot(target.child(i))).parent = left }
    }
    let shared = OrderNode(slot: memory.writableSlot(parent))
    shared.setChild(
      index, left, size: shared.size(index) + shared.size(index + 1), end: max(shared.end(index), shared.end(index + 1))
    )
    removeChild(shared, index + 1)
    memory.freeSlot(right, units: OrderNode.units)
    if parent == root {
      shrinkRoot(&memory)
    } else if shared.count < innerLimit / 4 {
      merge(parent, &memory)
    }
  }

  /// Whether the child at `index` and the one after it are there and have few enough entries for one node.
  private func fits(_ parent: OrderNode, _ index: Int, _ limit: Int, _ map: PageMap) -> Bool {
    guard index >= 0, index + 1 < parent.count else { return false }
    return node(parent.child(index), map).count + node(parent.child(index + 1), map).count <= limit
  }
}
