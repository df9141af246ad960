/// What a table consists of, and what operations do to it.
struct TableState {
  private(set) var memory: PagedMemory
  private(set) var index: KeyIndex
  private(set) var order: Order
  private(set) var base: (any RecordBase)?
  private(set) var count: Int
  let hash: KeyHash
  let shape: TableShape
  /// Takes what was read ahead, so that the reading is not optimised away.
  private var touched: UInt64 = 0

  init(base: (any RecordBase)?, hash: KeyHash, shape: TableShape) {
    self.base = base
    self.hash = hash
    self.shape = shape
    count = base?.count ?? 0
    precondition(count <= RecordTable.largestBase, "the base has too many records")
    memory = PagedMemory()
    index = KeyIndex(shape: shape, memory: &memory)
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

  /// What phase 1 finds out about an operation.
  struct Resolution {
    var tag: UInt32
    var anchorTag: UInt32 = 0
    /// Where the key is in the base if it is there; -1 if it is not, or if the overlay had it.
    ///
    /// Once the overlay has had a key, its base record is out of the order for good. So if the overlay has lost it by
    /// the time the operation is applied, it is nowhere.
    var base: Int32 = -1
    var anchorBase: Int32 = -1
  }

  private static let group = 64

  /// Resolves every key of a block. Changes nothing that can be seen.
  mutating func resolve(_ block: borrowing OperationBlock, into found: inout [Resolution]) throws(LogStoreError) {
    // Pages that the block may need: its records, of up to 131 sizes; bucket splits and nodes; a larger directory.
    let pages = block.bytes.count / 2048 + block.count / 8 + 200
    guard memory.pageNumbers(after: pages, run: 2 << max(0, index.depth - 9)) <= shape.pageLimit else {
      throw LogStoreError(.tooLarge, "the table of changes since the last compaction is full; compact the page")
    }
    found.removeAll(keepingCapacity: true)
    found.reserveCapacity(block.count - block.start)
    // Unsafe for elements with padding, which bytes have not.
    let bytes = unsafe block.bytes.span.bytes
    for i in block.start..<block.count {
      let operation = block.operations[i]
      var resolution = Resolution(tag: hash.tag(bytes.extracting(operation.key)))
      if operation.kind.namesAnchor { resolution.anchorTag = hash.tag(bytes.extracting(operation.anchor)) }
      found.append(resolution)
    }
    guard let base, base.count > 0, !block.clears else { return }
    for i in found.indices {
      if i % TableState.group == 0 { touch(found, from: i) }
      let operation = block.operations[block.start + i]
      found[i].base = try indexInBase(bytes.extracting(operation.key), found[i].tag, base)
      if operation.kind.namesAnchor {
        found[i].anchorBase = try indexInBase(bytes.extracting(operation.anchor), found[i].anchorTag, base)
      }
    }
  }

  private func indexInBase(_ key: RawSpan, _ tag: UInt32, _ base: any RecordBase) throws(LogStoreError) -> Int32 {
    guard index.find(key, tag: tag, memory.map).isNone, let found = try base.index(of: key) else { return -1 }
    return Int32(found)
  }

  /// Reads the key index at the places that the next operations will need, all at once rather than one by one.
  @inline(__always)
  private mutating func touch(_ found: [Resolution], from first: Int) {
    var sum: UInt64 = 0
    for i in first..<min(first + TableState.group, found.count) { sum &+= index.touch(found[i].tag, memory) }
    touched &+= sum
  }

  // MARK: Phase 2

  mutating func apply(_ block: borrowing OperationBlock, _ found: [Resolution]) {
    if block.clears {
      // A new table: the old memory goes as a whole, when the last view of it is gone.
      self = TableState(base: nil, hash: hash, shape: shape)
    }
    memory.beginWriting()
    // Unsafe for elements with padding, which bytes have not.
    let bytes = unsafe block.bytes.span.bytes
    for i in found.indices {
      if i % TableState.group == 0 { touch(found, from: i) }
      let operation = block.operations[block.start + i]
      apply(
        operation, bytes.extracting(operation.key), bytes.extracting(operation.anchor), found[i])
    }
    order.settle(&memory)
    memory.endWriting()
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

  @inline(__always)
  private mutating func apply(
    _ operation: OperationBlock.Operation, _ key: RawSpan, _ anchor: RawSpan, _ found: Resolution
  ) {
    if operation.kind == .clear { return }
    let spot = find(key, found.tag, found.base)
    switch operation.kind {
    case .put:
      put(key, found.tag, operation.location, spot)
    case .putBefore:
      if isSame(key, anchor, found) {
        put(key, found.tag, operation.location, spot)
      } else {
        let value = RecordRef.journal(operation.location)
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
      if operation.kind == .move, isSame(key, anchor, found) { return }
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
      insert(record, before: operation.kind == .move ? find(anchor, found.anchorTag, found.anchorBase) : .absent)
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

  private func isSame(_ key: RawSpan, _ anchor: RawSpan, _ found: Resolution) -> Bool {
    found.tag == found.anchorTag && key.hasSameBytes(as: anchor)
  }

  @inline(__always)
  private mutating func put(_ key: RawSpan, _ tag: UInt32, _ location: ValueLocation, _ spot: Spot) {
    switch spot {
    case .absent:
      order.append(add(key, tag, .journal(location)), &memory)
      count += 1
    case .record(let record):
      RecordSlot(slot: memory.writableSlot(record)).set(.journal(location))
    case .base(let place, _):
      order.replaceBase(at: place, with: add(key, tag, .journal(location)), &memory)
    }
  }

  /// A new record of the overlay, not in the order yet.
  @inline(__always)
  private mutating func add(_ key: RawSpan, _ tag: UInt32, _ value: RecordRef) -> SlotRef {
    let record = memory.allocateSlot(units: RecordSlot.units(keyLength: key.byteCount))
    RecordSlot(slot: memory.slot(record)).fill(key, value)
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
