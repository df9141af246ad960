import Testing

@testable import LogStore

/// What the frames of a snapshot must agree in, even where each of them verifies.
struct SnapshotFramesTests {
  private struct Frame {
    var type: FrameType
    var payload: [UInt8]
    var offset: UInt64
  }

  /// A snapshot with losses, single records, one in parts, and blocks; its frames, footer and size.
  private static func snapshot() throws -> (frames: [Frame], footer: SnapshotFooter, size: UInt64) {
    var settings = SnapshotWriter.Settings()
    settings.compression = .deflate
    settings.partBytes = 70 << 10
    var dice = Dice(1)
    var records = SnapshotFixture.records(1_000)
    records.append(TestRecord(key: [1], value: dice.bytes(200_000)))
    for number in 0..<200 { records.append(TestRecord(key: [2, UInt8(number)], value: dice.bytes(500))) }
    let bytes = try SnapshotFixture.write(records, settings: settings).bytes(SnapshotFixture.name)
    let codec = FrameCodec(salt: SnapshotFixture.header.salt)
    var frames: [Frame] = []
    var position = Limits.headerBytes
    while case .good(let type, let length) = codec.check(bytes, position, offset: UInt64(position)) {
      let payload = Array(bytes[position + Limits.frameOverhead..<position + Limits.frameOverhead + length])
      frames.append(Frame(type: type, payload: payload, offset: UInt64(position)))
      position += Limits.frameOverhead + length
    }
    #expect(position == bytes.count)
    return (frames, try SnapshotFixture.open(bytes).footer, UInt64(bytes.count))
  }

  private func isTaken(
    footer edited: ((inout SnapshotFooter) -> Void)? = nil, inflated: [UInt64] = [], _ edit: (inout [Frame]) -> Void
  ) throws -> Bool {
    var (frames, footer, size) = try SnapshotFramesTests.snapshot()
    edit(&frames)
    edited?(&footer)
    var judge = SnapshotFrames(isTable: true)
    judge.note(inflated: inflated)
    for frame in frames {
      let isGood = frame.payload.lend(0..<frame.payload.count) { judge.take(frame.type, $0, at: frame.offset) }
      guard isGood else { return false }
    }
    return judge.fault(footer, end: size) == nil
  }

  private static func first(_ kind: FrameKind, _ frames: [Frame]) -> Int {
    frames.firstIndex { $0.type.kind == kind } ?? frames.count
  }

  @Test func aWholeSnapshotIsTaken() throws {
    #expect(try isTaken { _ in })
  }

  @Test func everyFrameIsMissed() throws {
    let (frames, _, _) = try SnapshotFramesTests.snapshot()
    #expect(Set(frames.map(\.type.kind.rawValue)) == [6, 9, 16, 17, 18, 19, 20])
    for number in frames.indices {
      // Losses, and parts between the first and the last, are missed by where the others stand.
      guard ![.loss, .part].contains(frames[number].type.kind) else { continue }
      #expect(try !isTaken { $0.remove(at: number) }, "\(frames[number].type.kind) at \(number)")
    }
  }

  @Test func noFrameComesTwiceOrInAnotherPlace() throws {
    for kind in [FrameKind.part, .record, .block, .order, .keys, .footer] {
      #expect(try !isTaken { $0.insert($0[Self.first(kind, $0)], at: Self.first(kind, $0)) }, "\(kind)")
    }
    #expect(try !isTaken { $0.append($0[0]) })
    #expect(try !isTaken { $0.insert($0[0], at: Self.first(.order, $0)) })
    #expect(try !isTaken { $0.insert($0[Self.first(.block, $0)], at: Self.first(.keys, $0)) })
    #expect(try !isTaken { $0.insert($0[Self.first(.order, $0)], at: Self.first(.footer, $0)) })
  }

  @Test func theOrderTableGivesThePlacesThatWereFound() throws {
    #expect(try !isTaken { $0[Self.first(.order, $0)].payload[0] ^= 1 })
    // A span.
    #expect(try !isTaken { $0[Self.first(.order, $0)].payload[8] ^= 1 })
  }

  @Test func theKeyTableHoldsAllRecords() throws {
    #expect(
      try !isTaken { frames in
        let number = Self.first(.keys, frames)
        let payload = frames[number].payload
        let slots = payload.lend(0..<payload.count) { SnapshotBucket.slots($0, count: 1 << 20) ?? 0 }
        for byte in 0..<4 {
          frames[number].payload[(slots - 1) * 4 + byte] = 0
          frames[number].payload[SnapshotLayout.bucketSlots * 4 + (slots - 1) * 4 + byte] = 0xFF
        }
      })
  }

  @Test func aBlockHoldsWhatItSays() throws {
    #expect(try !isTaken { $0[Self.first(.block, $0)].payload[0] ^= 1 })
    #expect(try !isTaken { $0[Self.first(.block, $0)].payload[8] ^= 1 })
  }

  /// Only of those that were inflated before is it enough that their bytes came back.
  @Test func blocksInflateUnlessTheyAreKnownTo() throws {
    let blocks = try SnapshotFramesTests.snapshot().frames.filter { $0.type.kind == .block }.map(\.offset)
    #expect(blocks.count > 2)
    let damage: (inout [Frame]) -> Void = { frames in
      for number in frames.indices where frames[number].offset == blocks[1] {
        frames[number].payload[SnapshotLayout.blockHeadBytes...] = ArraySlice(
          repeating: 0xFF, count: frames[number].payload.count - SnapshotLayout.blockHeadBytes)
      }
    }
    #expect(try !isTaken(damage))
    #expect(try isTaken(inflated: [blocks[1]], damage))
    #expect(try isTaken(inflated: [blocks[0], blocks[1]], damage))
    #expect(try !isTaken(inflated: [blocks[0], blocks[2]], damage))
  }

  @Test func theFooterIsTheOneThatWasWritten() throws {
    #expect(try !isTaken(footer: { $0.checksum ^= 1 }) { _ in })
    #expect(try !isTaken(footer: { $0.lsn += 1 }) { _ in })
    #expect(try !isTaken(footer: { $0.recordsOffset += 1 }) { _ in })
  }
}
