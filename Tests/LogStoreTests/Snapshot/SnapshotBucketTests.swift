import Testing

@testable import LogStore

/// Searches of a bucket, compared with looking at one slot after another.
struct SnapshotBucketTests {
  private static let slots = SnapshotLayout.bucketSlots
  private static let empty = SnapshotLayout.emptySlot

  /// Few tags and indices, so that many are the same; with empty slots also where no writer leaves them.
  private func random(_ dice: inout Dice) -> (tags: [UInt32], indices: [UInt32], bytes: [UInt8]) {
    let taken = Bool.random(using: &dice) ? Self.slots : Int.random(in: 0..<Self.slots, using: &dice)
    let holes = Int.random(in: 0..<3, using: &dice)
    var tags: [UInt32] = []
    var indices: [UInt32] = []
    for slot in 0..<Self.slots {
      let isEmpty = slot >= taken || (holes == 2 && Int.random(in: 0..<40, using: &dice) == 0)
      tags.append(isEmpty && holes > 0 ? 0 : UInt32.random(in: 0..<40, using: &dice))
      indices.append(isEmpty ? Self.empty : UInt32.random(in: 0..<60, using: &dice))
    }
    let buffer = ByteBuffer()
    for number in tags + indices { buffer.append(number) }
    return (tags, indices, buffer.lend(0..<buffer.count) { $0.array })
  }

  @Test func matchesAreWhatASearchComesTo() {
    var dice = Dice(1)
    for _ in 0..<2000 {
      let bucket = random(&dice)
      let tag = UInt32.random(in: 0..<40, using: &dice)
      var expected: [UInt32] = []
      var isOver = bucket.indices[Self.slots - 1] == Self.empty
      for slot in 0..<Self.slots where bucket.tags[slot] == tag {
        if bucket.indices[slot] == Self.empty {
          isOver = true
          break
        }
        expected.append(bucket.indices[slot])
      }
      var matches = bucket.bytes.withByteSpan { SnapshotBucket.matches(tag, in: $0) }
      var found: [UInt32] = []
      while let index = matches.popFirst() { found.append(index) }
      #expect(found == expected && matches.goesOn == !isOver)
    }
  }

  @Test func aRecordIsFoundBehindThoseOfItsTag() {
    var dice = Dice(2)
    var counts = [0, 0, 0]
    for _ in 0..<5000 {
      let bucket = random(&dice)
      let entry = KeyEntry(
        hash: dice.next() << 32 | UInt64.random(in: 0..<40, using: &dice),
        index: UInt32.random(in: 0..<60, using: &dice))
      let tag = UInt32(truncatingIfNeeded: entry.hash)
      var earlier: [Int] = []
      var expected = 2
      for slot in 0..<Self.slots {
        if bucket.indices[slot] == Self.empty {
          expected = 1
          break
        }
        guard bucket.tags[slot] == tag else { continue }
        if bucket.indices[slot] == entry.index {
          expected = 0
          break
        }
        earlier.append(Int(bucket.indices[slot]))
      }
      counts[expected] += 1
      switch bucket.bytes.withByteSpan({ SnapshotBucket.search(entry, in: $0) }) {
      case .found(let found): #expect(expected == 0 && found == earlier)
      case .absent: #expect(expected == 1)
      case .further: #expect(expected == 2)
      }
    }
    #expect(counts.allSatisfy { $0 > 20 })
  }
}
