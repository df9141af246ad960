/// Sizes that decide when the parts of a table grow. Tests make them small, so that few records make deep structures.
struct TableShape: Sendable {
  /// At least 4.
  var leafEntries = OrderNode.leafCapacity
  /// At least 4.
  var innerEntries = OrderNode.innerCapacity
  /// At 80 % of the places, a search for an absent key reads about a dozen marks, most often in one cache line.
  var bucketEntries = 544
  var directoryDepth = 23
  var hashMask = UInt32.max
  var pageLimit = PagedMemory.largestPageCount
}
