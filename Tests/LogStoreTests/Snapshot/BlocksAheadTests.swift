import Testing

@testable import LogStore

/// A long sweep over blocks, some of which another thread inflates, gives what one thread alone gives.
struct BlocksAheadTests {
  /// Some 200 blocks; between them records of their own, and a value in parts.
  private static let records: [TestRecord] = {
    var dice = Dice(1)
    return (0..<24_000).map { number in
      var value = Array("the value of number \(number) \(dice.next())\(dice.next()), and again and again".utf8)
      if number % 5000 == 4999 { value = dice.bytes(number == 9999 ? 3 << 20 : 70_000) }
      return TestRecord(key: Array("key \(number)".utf8), value: value)
    }
  }()

  private static let bytes: [UInt8] = {
    var settings = SnapshotWriter.Settings()
    settings.compression = .deflate
    let directory = try? SnapshotFixture.write(records, losses: [], settings: settings)
    return directory?.bytes(SnapshotFixture.name) ?? []
  }()

  private func open(
    _ helpers: Helpers, bytes: [UInt8] = bytes, faults: FaultPlan = FaultPlan()
  ) throws -> SnapshotReader {
    try SnapshotReader(
      file: MemoryFile(SnapshotFixture.name, bytes, faults), name: SnapshotFixture.name, path: "/memory/file",
      generation: 7, cacheBytes: 1 << 20, startHelper: helpers.start)
  }

  private func blocks(_ bytes: [UInt8] = bytes) throws -> [Range<Int>] {
    try SnapshotDamageTests.frames(bytes).filter { bytes[$0.lowerBound + 8] == FrameType(.block).rawValue }
  }

  @Test(arguments: Helpers.Kind.allCases)
  func allRecordsAreThere(kind: Helpers.Kind) throws {
    #expect(try blocks().count > 100)
    let helpers = Helpers(kind)
    let reader = try open(helpers)
    for range in [0..<24_000, 100..<23_900, 4990..<5010, 10_000..<24_000] {
      let isSame = try SnapshotFixture.sweep(reader, range) == Array(Self.records[range])
      #expect(isSame)
    }
    #expect(helpers.started == (kind == .none ? 0 : 3))
    #expect(helpers.haveEnded())
  }

  @Test func aSmallSweepHasNoHelper() throws {
    let helpers = Helpers()
    let reader = try open(helpers)
    let sweep = SnapshotSweep(reader)
    for first in stride(from: 0, to: 4900, by: 50) { try sweep.forEach(in: first..<first + 50) { _, _ in true } }
    #expect(helpers.started == 0)
  }

  /// One over many short ranges is helped on if it will come to the end; whatever lies between them is passed over.
  @Test(arguments: [1, 40, 700], [false, true])
  func aSweepInManyRangesHasOneHelper(gap: Int, isBackwards: Bool) throws {
    let helpers = Helpers()
    let reader = try open(helpers)
    do {
      let sweep = SnapshotSweep(reader, isWhole: true)
      let starts = Array(stride(from: 0, to: 23_950, by: 50 + gap))
      for first in isBackwards ? starts.reversed() : starts {
        var found: [TestRecord] = []
        try sweep.forEach(in: first..<first + 50) { key, value in
          found.append(TestRecord(key: key.array, value: value.array))
          return true
        }
        let isSame = found == Array(Self.records[first..<first + 50])
        #expect(isSame)
      }
    }
    #expect(helpers.started == 1)
    #expect(helpers.haveEnded())
  }

  private struct Stop: Error {}

  @Test func aHelperEndsWithItsSweep() throws {
    for last in [0, 1, 170, 1000, 9998, 23_999] {
      let helpers = Helpers()
      let reader = try open(helpers)
      var seen = 0
      let isWhole = try reader.forEach(in: 0..<24_000) { _, _ in
        seen += 1
        return seen <= last
      }
      #expect(!isWhole && seen == last + 1)
      #expect(throws: Stop.self) {
        try reader.forEach(in: 0..<24_000) { _, _ in
          seen -= 1
          if seen == 0 { throw Stop() }
          return true
        }
      }
      #expect(helpers.started >= 1 && helpers.haveEnded())
    }
  }

  @Test func aSweepMayBeInsideAnother() throws {
    let helpers = Helpers()
    let reader = try open(helpers)
    var number = 0
    try reader.forEach(in: 0..<24_000) { key, _ in
      if number % 8000 == 0 {
        let inner = try SnapshotFixture.sweep(reader, 9000..<12_000)
        let isSame = inner == Array(Self.records[9000..<12_000])
        #expect(isSame)
      }
      #expect(key.array == Self.records[number].key)
      number += 1
      return number < 17_000
    }
    #expect(helpers.haveEnded())
  }

  /// Where and how a sweep fails.
  private struct End: Equatable {
    var seen: [TestRecord] = []
    var code: LogStoreError.Code?
    var message: String?
    var offset: UInt64?
  }

  private func sweep(_ reader: SnapshotReader) throws -> End {
    var end = End()
    do {
      try reader.forEach(in: 0..<reader.count) { key, value in
        end.seen.append(TestRecord(key: key.array, value: value.array))
        return true
      }
    } catch let error as LogStoreError {
      (end.code, end.message, end.offset) = (error.code, error.message, error.offset)
    }
    return end
  }

  /// A block whose checksum is wrong, one that does not inflate, one that claims another's records, and a frame of another
  /// kind.
  @Test func damageShowsWhereItIs() throws {
    let frames = try blocks()
    for number in [0, 1, 40, 99] {
      let frame = frames[number]
      for damage in 0..<4 {
        var bytes = Self.bytes
        switch damage {
        case 0: bytes[frame.lowerBound + 300] ^= 1
        case 1: for place in frame.lowerBound + 40..<frame.lowerBound + 300 { bytes[place] ^= 0x5A }
        case 2: bytes[frame.lowerBound + 9] ^= 1
        default: bytes[frame.lowerBound + 8] = FrameType(.order).rawValue
        }
        if damage > 0 { SnapshotDamageTests.seal(&bytes, frame) }
        let expected = try sweep(open(Helpers(.none), bytes: bytes))
        // One that claims the record in front of its own, too, shows where it ends.
        let isHere = expected.code == .damaged && (damage == 2 || expected.offset == UInt64(frame.lowerBound))
        #expect(isHere, "\(number), \(damage)")
        for kind in [Helpers.Kind.prompt, .late, .never] {
          let helpers = Helpers(kind)
          let end = try sweep(open(helpers, bytes: bytes))
          let isSame = end == expected
          #expect(isSame, "\(number), \(damage): \(end.message ?? ""), not \(expected.message ?? "")")
          #expect(helpers.haveEnded())
        }
      }
    }
  }

  /// A read that fails once is told, also where it was made ahead; the records in front of it are given.
  @Test func noReadErrorIsPassedOver() throws {
    let count = FaultPlan()
    _ = try sweep(open(Helpers(), faults: count))
    for call in 4..<count.calls.count {
      let faults = FaultPlan()
      faults.fail(call: call, errno: 5, stays: false)
      let end = try sweep(open(Helpers(), faults: faults))
      let isPrefix = end.seen == Array(Self.records[..<end.seen.count])
      #expect(end.code == .io && isPrefix)
    }
  }
}
