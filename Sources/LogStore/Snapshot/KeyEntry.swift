/// What the key table is made from: a key's hash, and which record has it.
struct KeyEntry {
  var hash: UInt64
  var index: UInt32

  static let bytes = 12

  /// The entries whose buckets are `range` of `buckets`, by bucket and, within one, in the order given. Costs time and
  /// memory in proportion to their number: they are counted, then put in place.
  static func sorted(_ entries: [KeyEntry], buckets: UInt64, in range: Range<UInt64>) -> [KeyEntry] {
    guard let filler = entries.first else { return [] }
    var places = [Int32](repeating: 0, count: range.count + 1)
    for entry in entries {
      places[Int(SnapshotLayout.bucket(entry.hash, of: buckets) - range.lowerBound) + 1] += 1
    }
    for bucket in 1..<places.count { places[bucket] += places[bucket - 1] }
    var sorted = [KeyEntry](repeating: filler, count: entries.count)
    for entry in entries {
      let bucket = Int(SnapshotLayout.bucket(entry.hash, of: buckets) - range.lowerBound)
      sorted[Int(places[bucket])] = entry
      places[bucket] += 1
    }
    return sorted
  }
}
