import Testing

@testable import LogStore

struct PackedOrderTests {
  typealias Place = SnapshotReader.Place

  /// A frame's payload.
  private func payload(_ places: [Place]) -> [UInt8] {
    let buffer = ByteBuffer()
    for place in places {
      buffer.append(place.offset)
      buffer.append(UInt32(place.span))
    }
    return buffer.lend(0..<buffer.count) { $0.array }
  }

  /// Places that follow one another.
  private func run(from first: UInt64, _ spans: [Int]) -> [Place] {
    var offset = first
    return spans.map { span in
      defer { offset &+= UInt64(span) }
      return Place(offset: offset, span: span)
    }
  }

  private func expect(_ places: [Place], packsInto bytes: Int, sourceLocation: SourceLocation = #_sourceLocation) {
    let payload = payload(places)
    let packed = payload.withByteSpan { PackedOrder.pack($0) }
    #expect(packed.count == bytes, sourceLocation: sourceLocation)
    for (index, place) in places.enumerated() {
      #expect(payload.withByteSpan { PackedOrder.place($0, index) } == place, sourceLocation: sourceLocation)
      #expect(packed.withByteSpan { PackedOrder.place(index, in: $0) } == place, sourceLocation: sourceLocation)
    }
  }

  @Test func recordsOfOneSizeTakeNoBytes() {
    expect(run(from: 4711, Array(repeating: 127, count: 128)), packsInto: 16)
    expect(run(from: 1 << 40, [12]), packsInto: 16)
    expect(run(from: 128, [Int(UInt32.max), Int(UInt32.max), Int(UInt32.max)]), packsInto: 16)
  }

  @Test func endsTakeAsManyBytesAsTheyNeed() {
    expect(run(from: 200, (0..<128).map { 12 + $0 }), packsInto: 16 + 128 * 2)
    expect(run(from: 200, [0xFFFE, 1]), packsInto: 16 + 2 * 2)
    expect(run(from: 200, [0xFFFF, 1]), packsInto: 16 + 2 * 4)
    expect(run(from: 1 << 50, (0..<128).map { 1000 * ($0 + 1) }), packsInto: 16 + 128 * 4)
    expect(run(from: 200, [Int(UInt32.max) - 1, 1]), packsInto: 16 + 2 * 4)
  }

  /// Blocks, and what only a lie can be: everything is given as it stands in the file.
  @Test func placesThatDoNotFollowStayAsTheyAre() {
    expect(Array(repeating: Place(offset: 128, span: 900), count: 60), packsInto: 16 + 60 * 12)
    expect([Place(offset: 128, span: 20), Place(offset: 147, span: 20)], packsInto: 16 + 2 * 12)
    expect([Place(offset: 128, span: 20), Place(offset: 149, span: 20)], packsInto: 16 + 2 * 12)
    expect(run(from: 128, [Int(UInt32.max), 1]), packsInto: 16 + 2 * 12)
    expect(run(from: .max - 10, [20, 20, 20]), packsInto: 16)
    expect([Place(offset: .max, span: 0), Place(offset: 0, span: 0)], packsInto: 16 + 2 * 12)
    var dice = Dice(3)
    let random = (0..<100).map { _ in
      Place(offset: dice.next(), span: Int(UInt32(truncatingIfNeeded: dice.next())))
    }
    expect(random, packsInto: 16 + 100 * 12)
  }
}
