/// The writer's side of a table's memory: logical pages that are copied before a change that a living view could see.
///
/// A page born after the newest living view is changed in place. Any other is copied to a new physical page first, and
/// the old one retired; the table of addresses above it and the root are copied the same way.
struct PagedMemory {
  /// Pages that can be numbered: a link has 23 bits for the page. 32 GiB.
  static let largestPageCount = 1 << (32 - Int(SlotRef.unitBits))

  let store: PageStore
  private(set) var map: PageMap
  private var root: PageRoot
  private var rootBirth: UInt64
  private var tableBirths: [UInt64] = []
  /// The epoch of the next view.
  private var epoch: UInt64 = 1
  /// The epoch of the newest living view when writing began.
  private var shared: UInt64 = 0

  private var nextPage: UInt32 = 1
  private var freeNumbers: [UInt32] = []

  private var chunk: MemorySlot
  private var chunkPages: Int
  private var freePages: [MemorySlot] = []
  private var retired: [PageStore.Retired] = []

  /// What the writer knows of each page: pages of ``PageEntry``, which views never read and which are never copied.
  private var ledger: [MemorySlot] = []
  /// For each slot size in units, a page with room, or 0.
  var roomy: [UInt32]

  init() {
    store = PageStore()
    (chunk, chunkPages) = store.allocateChunk()
    root = PageRoot(capacity: 4, filler: chunk)
    map = root.map
    rootBirth = epoch
    roomy = Array(repeating: 0, count: SlotRef(raw: .max).unit + 2)
  }

  /// Expects about so many bytes to be used: they are then allocated in few large pieces.
  func reserve(bytes: Int) { store.reserve(pages: bytes / MemorySlot.pageBytes) }

  // MARK: Writing and views

  mutating func beginWriting() { shared = store.beginWriting(free: &freePages) }

  mutating func endWriting() {
    guard !retired.isEmpty else { return }
    store.retire(retired)
    retired.removeAll(keepingCapacity: retired.count < 1024)
  }

  mutating func view() -> ViewRoot {
    let view = ViewRoot(store: store, root: root, epoch: epoch)
    epoch += 1
    return view
  }

  /// Pages in use, free ones excluded.
  var usedPageCount: Int { Int(nextPage) - 1 - freeNumbers.count }

  /// The highest page number in use after allocating so many pages one by one, and another so many in a run.
  func pageNumbers(after single: Int, run: Int) -> Int { Int(nextPage) + max(0, single - freeNumbers.count) + run }

  // MARK: Access

  @inline(__always)
  func page(_ number: UInt32) -> MemorySlot { map.page(number) }

  @inline(__always)
  func slot(_ ref: SlotRef) -> MemorySlot { map.slot(ref) }

  /// The page, for writing. Addresses handed out earlier for reading may now be those of the old copy.
  @inline(__always)
  mutating func writablePage(_ number: UInt32) -> MemorySlot {
    isOwn(number) ? map.page(number) : copyPage(number)
  }

  /// Whether no living view can see the page.
  @inline(__always)
  private func isOwn(_ number: UInt32) -> Bool { shared == 0 || entry(number).birth > shared }

  /// The same, for a page whose address for reading is known.
  @inline(__always)
  mutating func writablePage(_ number: UInt32, known page: MemorySlot) -> MemorySlot {
    isOwn(number) ? page : copyPage(number)
  }

  @inline(__always)
  mutating func writableSlot(_ ref: SlotRef) -> MemorySlot { writablePage(ref.page).advanced(by: ref.unit << 3) }

  @inline(__always)
  func entry(_ number: UInt32) -> PageEntry {
    PageEntry(
      slot: ledger[Int(number) >> PageEntry.perPageBits]
        .advanced(by: (Int(number) & (1 << PageEntry.perPageBits - 1)) * PageEntry.bytes))
  }

  @inline(never)
  private mutating func copyPage(_ number: UInt32) -> MemorySlot {
    let old = map.page(number)
    let new = allocatePhysical()
    new.copy(from: old, bytes: MemorySlot.pageBytes)
    let entry = entry(number)
    retired.append(PageStore.Retired(page: old, birth: entry.birth))
    entry.birth = epoch
    setAddress(number, new)
    return new
  }

  private mutating func setAddress(_ number: UInt32, _ page: MemorySlot) {
    let table = Int(number >> PageMap.tableBits)
    if tableBirths[table] <= shared {
      let old = map.table(table)
      let new = allocatePhysical()
      new.copy(from: old, bytes: MemorySlot.pageBytes)
      retired.append(PageStore.Retired(page: old, birth: tableBirths[table]))
      setTable(table, new)
    }
    map.setPage(number, page)
  }

  private mutating func setTable(_ index: Int, _ page: MemorySlot) {
    if index >= root.capacity || rootBirth <= shared {
      let capacity = index >= root.capacity ? max(root.capacity * 2, index + 1) : root.capacity
      root = PageRoot(copying: root, capacity: capacity, filler: page)
      rootBirth = epoch
      map = root.map
    }
    map.setTable(index, page)
    tableBirths[index] = epoch
  }

  // MARK: Allocating

  /// A page with undefined contents.
  mutating func allocatePage() -> UInt32 { bind(freeNumbers.popLast() ?? takeNumbers(1)) }

  /// Pages with consecutive numbers and undefined contents.
  mutating func allocateRun(_ count: Int) -> UInt32 {
    let first = takeNumbers(count)
    for number in first..<first + UInt32(count) { _ = bind(number) }
    return first
  }

  private mutating func takeNumbers(_ count: Int) -> UInt32 {
    // A block that could come to this is refused before anything is changed.
    precondition(Int(nextPage) + count <= PagedMemory.largestPageCount, "table memory is exhausted")
    let first = nextPage
    nextPage += UInt32(count)
    while ledger.count << PageEntry.perPageBits < Int(nextPage) { ledger.append(allocatePhysical()) }
    while tableBirths.count << Int(PageMap.tableBits) < Int(nextPage) {
      tableBirths.append(0)
      setTable(tableBirths.count - 1, allocatePhysical())
    }
    return first
  }

  private mutating func bind(_ number: UInt32) -> UInt32 {
    setAddress(number, allocatePhysical())
    entry(number).reset(birth: epoch)
    return number
  }

  mutating func freePage(_ number: UInt32) {
    let birth = entry(number).birth
    let page = map.page(number)
    if birth > shared {
      page.spoil()
      freePages.append(page)
    } else {
      retired.append(PageStore.Retired(page: page, birth: birth))
    }
    freeNumbers.append(number)
  }

  private mutating func allocatePhysical() -> MemorySlot {
    if let page = freePages.popLast() { return page }
    if chunkPages == 0 { (chunk, chunkPages) = store.allocateChunk() }
    let page = chunk
    chunkPages -= 1
    // Never formed past the end: the next address of an exhausted chunk is not used.
    if chunkPages > 0 { chunk = chunk.advanced(by: MemorySlot.pageBytes) }
    return page
  }
}
