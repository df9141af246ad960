import LogStore
import Synchronization

/// The states that were seen, by hash, and how deeply each was examined, for all threads together.
///
/// A state that has another's hash is passed over. Of 64 bits, 1.2 · 10⁸ states have a pair in common with a probability of
/// n² / 2⁶⁵ = 0.04 %. A table is at least five sixteenths full and at most five eighths, so a state takes 13 to 26 bytes:
/// 2 GiB for as many, and one table of 64 more while it grows.
final class DistinctStates: Sendable {
  enum Answer {
    case new
    /// It was seen, and nobody has examined it so deeply.
    case deeper
    case known
  }

  private let shards: [Shard] = (0..<64).map { _ in Shard() }

  /// Notes that a state is examined so deeply, or was so already: 1 to 63.
  func note(_ hash: UInt64, depth: UInt64) -> Answer { shards[Int(hash >> 58)].note(hash, depth) }

  /// Notes a state; whether it is a new one.
  func insert(_ hash: UInt64) -> Bool { note(hash, depth: 1) == .new }

  private final class Shard: Sendable {
    private let table = Mutex(Table())
    func note(_ hash: UInt64, _ depth: UInt64) -> Answer { table.withLock { $0.note(hash, depth) } }
  }

  /// An open-addressed table: 0 stands for an empty place. The six bits that all hashes of a shard have in common make room
  /// for the depth, in the lowest six.
  private struct Table {
    private var places = [UInt64](repeating: 0, count: 256)
    private var count = 0

    mutating func note(_ hash: UInt64, _ depth: UInt64) -> Answer {
      if count * 8 > places.count * 5 { grow() }
      let entry = hash << 6 | depth
      let place = Table.place(of: entry, in: places)
      let known = places[place] & 63
      guard known < depth else { return .known }
      places[place] = entry
      if known > 0 { return .deeper }
      count += 1
      return .new
    }

    private mutating func grow() {
      var larger = [UInt64](repeating: 0, count: places.count * 2)
      for entry in places where entry != 0 { larger[Table.place(of: entry, in: larger)] = entry }
      places = larger
    }

    /// Where an entry's hash stands, or would.
    private static func place(of entry: UInt64, in places: [UInt64]) -> Int {
      let mask = places.count - 1
      var place = Int(truncatingIfNeeded: entry >> 6) & mask
      while places[place] != 0, places[place] >> 6 != entry >> 6 { place = (place + 1) & mask }
      return place
    }
  }
}
