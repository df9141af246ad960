import LogStore
import Synchronization

/// The states that were seen, by hash, for all threads together.
///
/// A state that has another's hash is passed over. Of 64 bits, 1.2 · 10⁸ states have a pair in common with a probability of
/// n² / 2⁶⁵ = 0.04 %. A table is at least five sixteenths full and at most five eighths, so a state takes 13 to 26 bytes:
/// 2 GiB for as many, and one table of 64 more while it grows.
final class DistinctStates: Sendable {
  private let shards: [Shard] = (0..<64).map { _ in Shard() }

  /// Notes a state; whether it is a new one.
  func insert(_ hash: UInt64) -> Bool { shards[Int(hash >> 58)].insert(hash) }

  private final class Shard: Sendable {
    private let table = Mutex(Table())
    func insert(_ hash: UInt64) -> Bool { table.withLock { $0.insert(hash) } }
  }

  /// An open-addressed table: 0 stands for an empty place.
  private struct Table {
    private var places = [UInt64](repeating: 0, count: 256)
    private var count = 0

    mutating func insert(_ hash: UInt64) -> Bool {
      if count * 8 > places.count * 5 { grow() }
      guard Table.insert(max(hash, 1), into: &places) else { return false }
      count += 1
      return true
    }

    private mutating func grow() {
      var larger = [UInt64](repeating: 0, count: places.count * 2)
      for hash in places where hash != 0 { _ = Table.insert(hash, into: &larger) }
      places = larger
    }

    private static func insert(_ hash: UInt64, into places: inout [UInt64]) -> Bool {
      let mask = places.count - 1
      var place = Int(truncatingIfNeeded: hash) & mask
      while places[place] != 0 {
        if places[place] == hash { return false }
        place = (place + 1) & mask
      }
      places[place] = hash
      return true
    }
  }
}
