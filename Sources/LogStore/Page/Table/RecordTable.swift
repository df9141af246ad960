/// The state of a page in memory: an ordered table of records, as an overlay of what changed over an immutable base.
///
/// One writer at a time: the caller holds a lock around every call. Views may be read, copied and let go on any thread
/// meanwhile. Memory is at most 64 bytes for each record of the overlay, plus its key; records of the base cost nothing
/// until they are touched.
final class RecordTable {
  /// Records that a base may have.
  static let largestBase = Int(Int32.max)

  private var state: TableState
  /// The view of the present state, if one was taken.
  private var latest: ViewRoot?

  convenience init(base: (any RecordBase)?) {
    self.init(base: base, shape: TableShape(), seed: .random(in: .min ... .max))
  }

  init(base: (any RecordBase)?, shape: TableShape, seed: UInt64) {
    state = TableState(base: base, hash: KeyHash(seed: seed, mask: shape.hashMask), shape: shape)
  }

  var count: Int { state.count }
  /// The hash of keys, for the blocks that the table is to absorb.
  var hash: KeyHash { state.hash }

  /// Pages of 4 KiB in use for the present state, and pages allocated for it and for all living views of it.
  var pageCounts: (used: Int, allocated: Int) { (state.memory.usedPageCount, state.memory.store.pageCount) }

  /// Records that were changed over the base, as far as they are few; nil where they are more.
  var smallOverlayCount: Int? { state.smallOverlayCount }

  /// Prepares an overlay that is still small for so many records. It grows further by itself.
  func reserve(records: Int) {
    latest = nil
    state.reserve(records: records)
  }

  /// Applies the operations of a block, in order.
  ///
  /// Throws what the base throws, or `tooLarge` if the overlay's memory cannot take the block; then nothing has changed.
  ///
  /// - Complexity: O(log n) an operation; reads the base for keys that the overlay does not have.
  func absorb(_ block: OperationBlock) throws(LogStoreError) {
    if block.isEmpty { return }
    try state.resolve(block)
    // Let go first: if nobody else holds it, nothing needs to be copied.
    latest = nil
    state.apply(block)
  }

  /// The present state. O(1).
  func view() -> TableView {
    let root = latest ?? state.view()
    latest = root
    return TableView(
      root: root, index: state.index, order: state.order, base: state.base, hash: state.hash, count: state.count)
  }
}
