internal import Synchronization

/// The physical memory of a table, and the register of who can still see which pages.
///
/// Lives as long as the table or any of its views. Epochs count views: a page is born in the epoch of the view to come,
/// so the view of epoch v sees the pages born at or before v that had not been replaced when it was taken.
final class PageStore: Sendable {
  /// A page that was replaced or freed, and the epoch in which it was born.
  struct Retired {
    var page: MemorySlot
    var birth: UInt64
  }

  private final class LivingView {
    let epoch: UInt64
    /// Pages that were replaced after this view was taken, and before the next living one was.
    var retired: [Retired] = []

    init(epoch: UInt64) { self.epoch = epoch }
  }

  private struct State {
    /// Oldest first.
    var views: [LivingView] = []
    /// Pages that nobody can see any more.
    var free: [MemorySlot] = []
    var chunks: [MemorySlot] = []
    var pages = 0
    /// Pages that are expected to be used.
    var expected = 0

    mutating func retire(_ retired: Retired, below index: Int) {
      // The newest living view that can see it, keeps it.
      if index > 0, views[index - 1].epoch >= retired.birth {
        views[index - 1].retired.append(retired)
      } else {
        retired.page.spoil()
        free.append(retired.page)
      }
    }
  }

  private let state = Mutex(State())

  static let smallestChunk = 16
  static let largestChunk = 1024

  deinit {
    state.withLock { state in
      for chunk in state.chunks { unsafe chunk.address.deallocate() }
    }
  }

  /// New memory, of a number of pages that grows with the table. Its contents are undefined.
  func allocateChunk() -> (start: MemorySlot, pages: Int) {
    state.withLock { state in
      let wanted = max(state.pages / 2, state.expected - state.pages, PageStore.smallestChunk)
      let pages = min(wanted, PageStore.largestChunk)
      let bytes = pages * MemorySlot.pageBytes
      let start = unsafe MemorySlot(allocateTableMemory(bytes))
      state.chunks.append(start)
      state.pages += pages
      return (start, pages)
    }
  }

  /// Pages in all chunks.
  var pageCount: Int { state.withLock { $0.pages } }

  func reserve(pages: Int) { state.withLock { $0.expected = pages } }

  // MARK: Views

  func register(epoch: UInt64) {
    state.withLock { $0.views.append(LivingView(epoch: epoch)) }
  }

  /// Called when the last holder of a view is gone, on whatever thread that happens.
  ///
  /// Whoever read through the view did so before releasing it, and the writer takes the pages under the same lock: so
  /// reads come before reuse.
  func unregister(epoch: UInt64) {
    // Destroyed outside the lock.
    var emptied: [Retired] = []
    state.withLock { state in
      guard let index = state.views.lastIndex(where: { $0.epoch == epoch }) else { return }
      swap(&emptied, &state.views[index].retired)
      state.views.remove(at: index)
      for retired in emptied { state.retire(retired, below: index) }
    }
  }

  /// The epoch of the newest living view (0 if there is none). Pages nobody sees any more move to `free`.
  func beginWriting(free: inout [MemorySlot]) -> UInt64 {
    let (epoch, found) = state.withLock { state in
      let found = state.free
      if !found.isEmpty { state.free = [] }
      return (state.views.last?.epoch ?? 0, found)
    }
    free.append(contentsOf: found)
    return epoch
  }

  func retire(_ pages: [Retired]) {
    state.withLock { state in
      for page in pages { state.retire(page, below: state.views.count) }
    }
  }
}

/// What a view holds on to: a page table and its epoch. The last one to let go gives the pages back.
final class ViewRoot: Sendable {
  let root: PageRoot
  private let store: PageStore
  private let epoch: UInt64

  init(store: PageStore, root: PageRoot, epoch: UInt64) {
    self.store = store
    self.root = root
    self.epoch = epoch
    store.register(epoch: epoch)
  }

  deinit { store.unregister(epoch: epoch) }
}
