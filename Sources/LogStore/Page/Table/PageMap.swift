/// A place in table memory: a logical page and an offset in it, in units of eight bytes. Zero is nowhere.
///
/// Links between records, nodes and buckets are logical, so they survive the copying of pages.
struct SlotRef: Hashable, Sendable {
  static let unitBits: UInt32 = 9
  static let none = SlotRef(raw: 0)

  var raw: UInt32

  @inline(__always)
  init(raw: UInt32) { self.raw = raw }

  @inline(__always)
  init(page: UInt32, unit: Int) { raw = page << SlotRef.unitBits | UInt32(truncatingIfNeeded: unit) }

  var page: UInt32 { raw >> SlotRef.unitBits }
  var unit: Int { Int(raw & (1 << SlotRef.unitBits - 1)) }
  var isNone: Bool { raw == 0 }
}

/// The top level of the page table: an array of addresses of tables, each a page with the addresses of 512 pages.
///
/// Sendable: the memory is written only by the table's writer, and only while no view holds the object; a view that is
/// taken freezes it, and the writer goes on with a copy. Its memory is owned by this object and freed with it.
@safe
final class PageRoot: @unchecked Sendable {
  let capacity: Int
  fileprivate let tables: UnsafeMutablePointer<UnsafeMutableRawPointer>

  init(capacity: Int, filler: MemorySlot) {
    self.capacity = capacity
    unsafe tables = .allocate(capacity: capacity)
    unsafe tables.initialize(repeating: filler.address, count: capacity)
  }

  /// A copy of `other`, perhaps larger.
  init(copying other: PageRoot, capacity: Int, filler: MemorySlot) {
    precondition(capacity >= other.capacity)
    self.capacity = capacity
    unsafe tables = .allocate(capacity: capacity)
    unsafe tables.initialize(from: other.tables, count: other.capacity)
    unsafe (tables + other.capacity).initialize(repeating: filler.address, count: capacity - other.capacity)
  }

  deinit { unsafe tables.deallocate() }

  var map: PageMap { unsafe PageMap(tables: tables) }
}

/// Turns logical pages into addresses. Valid as long as the root it came from, which whoever uses it holds.
///
/// Safe because page numbers come only from the structures in this memory: a link is stored after its target was
/// allocated, and is overwritten before its target is freed.
@safe
struct PageMap {
  static let tableBits: UInt32 = 9
  static let tableEntries = 1 << 9

  fileprivate let tables: UnsafeMutablePointer<UnsafeMutableRawPointer>

  fileprivate init(tables: UnsafeMutablePointer<UnsafeMutableRawPointer>) { unsafe self.tables = unsafe tables }

  @inline(__always)
  func page(_ number: UInt32) -> MemorySlot {
    let table = unsafe tables[Int(number >> PageMap.tableBits)]
    let entry = Int(number) & (PageMap.tableEntries &- 1)
    return unsafe MemorySlot(table.assumingMemoryBound(to: UnsafeMutableRawPointer.self)[entry])
  }

  @inline(__always)
  func slot(_ ref: SlotRef) -> MemorySlot { page(ref.page).advanced(by: ref.unit << 3) }

  /// The page that holds table `index`.
  func table(_ index: Int) -> MemorySlot { unsafe MemorySlot(tables[index]) }

  /// For the writer, on a root that no view holds.
  func setTable(_ index: Int, _ page: MemorySlot) { unsafe tables[index] = page.address }

  /// For the writer, on a table page that no view can see.
  @inline(__always)
  func setPage(_ number: UInt32, _ page: MemorySlot) {
    let table = unsafe tables[Int(number >> PageMap.tableBits)]
    let entry = Int(number) & (PageMap.tableEntries &- 1)
    unsafe table.assumingMemoryBound(to: UnsafeMutableRawPointer.self)[entry] = page.address
  }
}
