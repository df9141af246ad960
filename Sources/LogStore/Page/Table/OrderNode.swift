/// A piece of the order: one record of the overlay, or a range of the base.
struct OrderEntry: Equatable {
  /// High half: how many base records, or 0. Low half: the first of them, or the overlay's record.
  let raw: UInt64

  @inline(__always)
  init(raw: UInt64) { self.raw = raw }

  @inline(__always)
  init(_ record: SlotRef) { raw = UInt64(record.raw) }

  @inline(__always)
  init(base: Range<Int>) { raw = UInt64(base.count) << 32 | UInt64(base.lowerBound) }

  var isRange: Bool { raw >> 32 != 0 }
  /// How many records the piece stands for.
  var count: Int { max(1, Int(raw >> 32)) }
  var record: SlotRef { SlotRef(raw: UInt32(truncatingIfNeeded: raw)) }
  var base: Range<Int> {
    let start = Int(raw & 0xFFFF_FFFF)
    return start..<start + Int(raw >> 32)
  }
}

/// A node of the order tree. 1,024 bytes: 16 of header, then 126 entries (a leaf) or three arrays of 84 (an inner node).
///
///     0   parent            u32
///     4   entries           u16
///     6   height            u16, 0 for a leaf
///     8   ranges in a leaf  u16
///     16  entries           u64 × 126, or
///     16  children          u32 × 84
///     352 records below     u32 × 84
///     688 base end          u32 × 84
///
/// A child's base end is a separator: all base indices below it and before it are less, all after it are not. It is
/// exact when a node is split and may stay too high after removals, which does no harm.
struct OrderNode {
  static let bytes = 1024
  static let units = bytes >> 3
  static let leafCapacity = (bytes - 16) / 8
  static let innerCapacity = (bytes - 16) / 12
  private static let children = 16
  private static let sizes = children + innerCapacity * 4
  private static let ends = sizes + innerCapacity * 4

  let slot: MemorySlot

  var parent: SlotRef {
    @inline(__always) get { SlotRef(raw: slot.load(0)) }
    nonmutating set { slot.store(newValue.raw, at: 0) }
  }
  var count: Int {
    @inline(__always) get { Int(slot.load(4, as: UInt16.self)) }
    @inline(__always) nonmutating set { slot.store(UInt16(truncatingIfNeeded: newValue), at: 4) }
  }
  var height: Int {
    get { Int(slot.load(6, as: UInt16.self)) }
    nonmutating set { slot.store(UInt16(newValue), at: 6) }
  }
  /// How many of a leaf's entries are ranges. Without any, an entry's index is its rank in the leaf.
  var ranges: Int {
    get { Int(slot.load(8, as: UInt16.self)) }
    nonmutating set { slot.store(UInt16(newValue), at: 8) }
  }

  func reset(height: Int) {
    slot.store(UInt64(0), at: 0)
    slot.store(UInt64(0), at: 8)
    self.height = height
  }

  // MARK: Leaves

  @inline(__always)
  func entry(_ index: Int) -> OrderEntry { OrderEntry(raw: slot.load(16 &+ index << 3)) }

  @inline(__always)
  func setEntry(_ index: Int, _ entry: OrderEntry) { slot.store(entry.raw, at: 16 &+ index << 3) }

  /// The index of a record that is known to be in this leaf.
  @inline(__always)
  func index(of record: SlotRef) -> Int {
    guard let index = slot.firstIndex(of: OrderEntry(record).raw, at: 16, count: count) else {
      preconditionFailure("a record is missing from its leaf")
    }
    return index
  }

  func moveEntries(from: Int, to: Int, count: Int) {
    slot.move(from: 16 + from << 3, to: 16 + to << 3, bytes: count << 3)
  }

  func copyEntries(of other: OrderNode, from: Int, to: Int, count: Int) {
    slot.copy(from: other.slot, 16 + from << 3, to: 16 + to << 3, bytes: count << 3)
  }

  /// How many records the first `count` entries stand for.
  func records(before count: Int) -> Int {
    if ranges == 0 { return count }
    var sum = 0
    for index in 0..<count { sum += entry(index).count }
    return sum
  }

  /// One more than the highest base index in this leaf, or 0.
  var leafEnd: Int {
    if ranges == 0 { return 0 }
    var index = count
    while index > 0 {
      index -= 1
      if entry(index).isRange { return entry(index).base.upperBound }
    }
    return 0
  }

  // MARK: Inner nodes

  @inline(__always)
  func child(_ index: Int) -> SlotRef { SlotRef(raw: slot.load(OrderNode.children &+ index << 2)) }

  @inline(__always)
  func size(_ index: Int) -> Int { Int(slot.load(OrderNode.sizes &+ index << 2, as: UInt32.self)) }

  @inline(__always)
  func end(_ index: Int) -> Int { Int(slot.load(OrderNode.ends &+ index << 2, as: UInt32.self)) }

  func setChild(_ index: Int, _ child: SlotRef, size: Int, end: Int) {
    slot.store(child.raw, at: OrderNode.children + index << 2)
    slot.store(UInt32(size), at: OrderNode.sizes + index << 2)
    slot.store(UInt32(end), at: OrderNode.ends + index << 2)
  }

  func addSize(_ index: Int, _ delta: Int) {
    slot.store(UInt32(size(index) + delta), at: OrderNode.sizes + index << 2)
  }

  @inline(__always)
  func index(ofChild child: SlotRef) -> Int {
    guard let index = slot.firstIndex(of: child.raw, at: OrderNode.children, count: count) else {
      preconditionFailure("a node is missing from its parent")
    }
    return index
  }

  func sizes(before count: Int) -> Int { slot.sum(OrderNode.sizes, count: count) }

  var innerEnd: Int {
    var end = 0
    for index in 0..<count { end = max(end, self.end(index)) }
    return end
  }

  func moveChildren(from: Int, to: Int, count: Int) {
    for array in [OrderNode.children, OrderNode.sizes, OrderNode.ends] {
      slot.move(from: array + from << 2, to: array + to << 2, bytes: count << 2)
    }
  }

  func copyChildren(of other: OrderNode, from: Int, to: Int, count: Int) {
    for array in [OrderNode.children, OrderNode.sizes, OrderNode.ends] {
      slot.copy(from: other.slot, array + from << 2, to: array + to << 2, bytes: count << 2)
    }
  }
}
