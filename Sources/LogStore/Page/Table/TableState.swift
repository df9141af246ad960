/// What a table consists of, and what operations do to it.
struct TableState {
  private(set) var memory: PagedMemory
  private(set) var index: KeyIndex
  private(set) var order: Order
  private(set) var base: (any RecordBase)?
  private(set) var count: Int
  let hash: KeyHash
  let shape: TableShape

  init(base: (any RecordBase)?, hash: KeyHash, shape: TableShape) {
    self.base = base
    self.hash = hash
    self.shape = shape
    count = base?.count ?? 0
    precondition(count <= RecordTable.largestBase, "the base has too many records")
    memory = PagedMemory()
    index = KeyIndex(shape: shape, hash: hash, memory: &memory)
    order = Order(shape: shape, baseCount: count, memory: &memory)
  }

  mutating func reserve(records: Int) {
    memory.reserve(bytes: records * TableState.expectedRecordBytes)
    memory.beginWriting()
    index.reserve(records, &memory)
    memory.endWriting()
  }

  /// What a record with a short key takes, with its share of index and order.
  private static let expectedRecordBytes = 72

  /// Records that the overlay holds, where it is still small.
  var smallOverlayCount: Int? { index.smallContents(memory.map)?.count }

  mutating func view() -> ViewRoot { memory.view() }

  // MARK: Phase 1

  /// Looks up in the base what a block names. Changes nothing that can be seen.
  func resolve(_ block: OperationBlock) throws(LogStoreError) {
    // Pages that the block may need: its records, of up to 131 sizes; bucket splits and nodes; a larger directory.
    let pages = block.end / 2048 + block.count / 8 + 200
    guard memory.pageNumbers(after: pages, run: 2 << max(0, index.depth - 9)) <= shape.pageLimit else {
      throw LogStoreError(.tooLarge, "the table of changes since the last compaction is full; compact the page")
    }
    guard let base, base.count > 0, !block.clears else { return }
    var place = block.first
    var ahead = place
    while place < block.end {
      if ahead <= place { ahead = prefetch(block, from: place) }
      let operation = block.operation(at: place)
      let key = unsafe RawSpan(_unsafeBytes: block.key(of: operation, at: place))
      let found = try indexInBase(key, operation.tag, base)
      var anchorFound: Int32 = -1
      if operation.kind.namesAnchor {
        let anchor = unsafe RawSpan(_unsafeBytes: block.anchor(of: operation, at: place))
        anchorFound = try indexInBase(anchor, operation.anchorTag, base)
      }
      block.setBase(found, anchor: anchorFound, at: place)
      place &+= operation.bytes
    }
  }

  private func indexInBase(_ key: RawSpan, _ tag: UInt32, _ base: any RecordBase) throws(LogStoreError) -> Int32 {
    guard index.find(key, tag: tag, memory.map).isNone, let found = try base.index(of: key) else { return -1 }
    return Int32(found)
  }

  /// How many operations' places in the key index are fetched at once, rather than one by one when each is needed.
  private static let group = 32

  /// Fetches what a group of operations will need of the key index; returns where the group ends.
  @inline(__always)
  private func prefetch(_ block: OperationBlock, from first: Int) -> Int {
    let end = block.end
    var place = first
    var left = TableState.group
    while left > 0, place < end {
      let operation = block.operation(at: place)
      index.prefetch(operation.tag, memory.map)
      place &+= operation.bytes
      left &-= 1
    }
    return place
  }

  // MARK: Phase 2

  mutating func apply(_ block: OperationBlock) {
    if block.clears {
      // A new table: the old memory goes as a whole, when the last view of it is gone.
      self = TableState(base: nil, hash: hash, shape: shape)
    }
    memory.beginWriting()
    let end = block.end
    var place = block.first
    var ahead = place
    while place < end {
      if ahead <= place { ahead = prefetch(block, from: place) }
      let operation = block.operation(at: place)
      let key = unsafe RawSpan(_unsafeBytes: block.key(of: operation, at: place))
      if operation.kind == .put {
        put(key, operation)
      } else {
        let anchor = unsafe RawSpan(_unsafeBytes: block.anchor(of: operation, at: place))
        apply(operation, key, anchor)
      }
      place &+= operation.bytes
    }
    order.settle(&memory)
    memory.endWriting()
  }

  /// What most operations are: one search of the key index, in which a new key then takes the place where it ended.
  @inline(__always)
  private mutating func put(_ key: RawSpan, _ operation: OperationBlock.Operation) {
    let (record, gap) = index.search(key, tag: operation.tag, memory.map)
    if !record.isNone {
      RecordSlot(slot: memory.writableSlot(record)).set(.journal(operation.location))
    } else if operation.base >= 0, let place = order.place(ofBase: Int(operation.base), memory.map) {
      order.replaceBase(at: place, with: add(key, operation.tag, .journal(operation.location)), &memory)
    } else {
      let (record, slot) = memory.allocateSlot(units: RecordSlot.units(keyLength: key.byteCount))
      RecordSlot(slot: slot).fill(key, .journal(operation.location))
      index.insert(record, tag: operation.tag, at: gap, &memory)
      order.append(record, RecordSlot(slot: slot), &memory)
      count &+= 1
    }
  }

  private enum Spot {
    case absent
    case record(SlotRef)
    case base(Order.Place, Int)
  }

  @inline(__always)
  private func find(_ key: RawSpan, _ tag: UInt32, _ inBase: Int32) -> Spot {
    let record = index.find(key, tag: tag, memory.map)
    if !record.isNone { return .record(record) }
    if inBase >= 0, let place = order.place(ofBase: Int(inBase), memory.map) { return .base(place, Int(inBase)) }
    return .absent
  }

  private mutating func apply(_ found: OperationBlock.Operation, _ key: RawSpan, _ anchor: RawSpan) {
    if found.kind == .clear { return }
    let spot = find(key, found.tag, found.base)
    switch found.kind {
    case .put:
      put(key, found)
    case .putBefore:
      if isSame(key, anchor, found) {
        put(key, found)
      } else {
        let value = RecordRef.journal(found.location)
        let record: SlotRef
        switch spot {
        case .absent:
          record = add(key, found.tag, value)
          count += 1
        case .record(let old):
          record = old
          RecordSlot(slot: memory.writableSlot(record)).set(value)
          order.remove(record, &memory)
        case .base(let place, _):
          order.replaceBase(at: place, with: .none, &memory)
          record = add(key, found.tag, value)
        }
        insert(record, before: find(anchor, found.anchorTag, found.anchorBase))
      }
    case .move, .moveToEnd:
      if found.kind == .move, isSame(key, anchor, found) { return }
      let record: SlotRef
      switch spot {
      case .absent: return
      case .record(let old):
        record = old
        order.remove(record, &memory)
      case .base(let place, let index):
        order.replaceBase(at: place, with: .none, &memory)
        record = add(key, found.tag, .base(index))
      }
      insert(record, before: found.kind == .move ? find(anchor, found.anchorTag, found.anchorBase) : .absent)
    case .remove:
      switch spot {
      case .absent: return
      case .record(let record):
        order.remove(record, &memory)
        index.remove(record, tag: found.tag, &memory)
        memory.freeSlot(record, units: RecordSlot(slot: memory.slot(record)).units)
      case .base(let place, _):
        order.replaceBase(at: place, with: .none, &memory)
      }
      count -= 1
    case .clear: break
    }
  }

  private func isSame(_ key: RawSpan, _ anchor: RawSpan, _ found: OperationBlock.Operation) -> Bool {
    found.tag == found.anchorTag && key.hasSameBytes(as: anchor)
  }

  /// A new record of the overlay, not in the order yet.
  @inline(__always)
  private mutating func add(_ key: RawSpan, _ tag: UInt32, _ value: RecordRef) -> SlotRef {
    let (record, slot) = memory.allocateSlot(units: RecordSlot.units(keyLength: key.byteCount))
    RecordSlot(slot: slot).fill(key, value)
    index.insert(record, tag: tag, &memory)
    return record
  }

  private mutating func insert(_ record: SlotRef, before anchor: Spot) {
    switch anchor {
    case .absent: order.append(record, &memory)
    case .record(let other): order.insert(record, before: order.place(ofRecord: other, memory.map), &memory)
    case .base(let place, _): order.insert(record, before: place, &memory)
    }
  }
}
