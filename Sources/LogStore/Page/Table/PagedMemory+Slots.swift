/// What the writer knows of a page. 32 bytes.
struct PageEntry {
  static let bytes = 32
  static let perPageBits = 7

  let slot: MemorySlot

  /// The epoch in which the physical page was born.
  var birth: UInt64 {
    @inline(__always) get { slot.load(0) }
    nonmutating set { slot.store(newValue, at: 0) }
  }
  /// The neighbours in the list of pages with room for slots of one size.
  var next: UInt32 {
    get { slot.load(8) }
    nonmutating set { slot.store(newValue, at: 8) }
  }
  var previous: UInt32 {
    get { slot.load(12) }
    nonmutating set { slot.store(newValue, at: 12) }
  }
  var used: UInt16 {
    @inline(__always) get { slot.load(16) }
    @inline(__always) nonmutating set { slot.store(newValue, at: 16) }
  }
  /// One more than the unit of the first freed slot, which links to the next; 0 if there is none.
  var freed: UInt16 {
    @inline(__always) get { slot.load(18) }
    nonmutating set { slot.store(newValue, at: 18) }
  }
  /// The first unit that was never used.
  var fresh: UInt16 {
    @inline(__always) get { slot.load(20) }
    @inline(__always) nonmutating set { slot.store(newValue, at: 20) }
  }

  func reset(birth: UInt64) {
    self.birth = birth
    slot.store(UInt64(0), at: 8)
    slot.store(UInt64(0), at: 16)
    slot.store(UInt64(0), at: 24)
  }

  func hasRoom(_ units: Int) -> Bool { freed != 0 || Int(fresh) + units <= MemorySlot.pageBytes >> 3 }
}

/// Slots: pieces of pages, all of a page of one size. A page whose slots are all free goes back to be used for any
/// size, so churn does not grow memory, whatever the sizes.
extension PagedMemory {
  /// A slot of `units` times eight bytes, with undefined contents, to be written.
  @inline(__always)
  mutating func allocateSlot(units: Int) -> (SlotRef, MemorySlot) {
    let number = roomy[units]
    guard number != 0 else { return takeSlot(units) }
    let entry = entry(number)
    let unit = Int(entry.fresh)
    // Most often the next one of a page in which none was freed, and which has room for another behind it.
    guard entry.freed == 0, unit &+ 2 &* units <= MemorySlot.pageBytes >> 3 else { return takeSlot(units) }
    entry.fresh = UInt16(truncatingIfNeeded: unit &+ units)
    entry.used &+= 1
    return (SlotRef(page: number, unit: unit), writablePage(number).advanced(by: unit << 3))
  }

  @inline(never)
  private mutating func takeSlot(_ units: Int) -> (SlotRef, MemorySlot) {
    var number = roomy[units]
    if number == 0 {
      number = allocatePage()
      roomy[units] = number
    }
    let entry = entry(number)
    let unit: Int
    if entry.freed != 0 {
      unit = Int(entry.freed) - 1
      entry.freed = writablePage(number).load(unit << 3)
    } else {
      unit = Int(entry.fresh)
      entry.fresh += UInt16(units)
    }
    entry.used += 1
    if !entry.hasRoom(units) { unlink(number, units) }
    return (SlotRef(page: number, unit: unit), writablePage(number).advanced(by: unit << 3))
  }

  mutating func freeSlot(_ ref: SlotRef, units: Int) {
    let number = ref.page
    let entry = entry(number)
    entry.used -= 1
    if entry.used == 0 {
      if entry.hasRoom(units) { unlink(number, units) }
      freePage(number)
      return
    }
    if !entry.hasRoom(units) {
      entry.previous = 0
      entry.next = roomy[units]
      if entry.next != 0 { self.entry(entry.next).previous = number }
      roomy[units] = number
    }
    writablePage(number).store(entry.freed, at: ref.unit << 3)
    entry.freed = UInt16(ref.unit + 1)
  }

  private mutating func unlink(_ number: UInt32, _ units: Int) {
    let entry = entry(number)
    if entry.previous == 0 { roomy[units] = entry.next } else { self.entry(entry.previous).next = entry.next }
    if entry.next != 0 { self.entry(entry.next).previous = entry.previous }
    entry.next = 0
    entry.previous = 0
  }
}
