import Testing

@testable import LogStore

@Suite struct FrameTests {
  @Test func everyKindHasItsNameAndTheOthersTheirNumber() {
    let names = (0..<64).map { FrameKind(rawValue: $0).description }
    #expect(names[1...6] == ["put", "put-before", "remove", "move", "clear", "part"])
    #expect(names[8...9] == ["mark", "loss"])
    #expect(names[16...20] == ["record", "block", "order", "keys", "footer"])
    #expect([0, 7, 10, 15, 21, 31].map { names[$0] } == [0, 7, 10, 15, 21, 31].map { "unknown-\($0)" })
    #expect((32..<64).allSatisfy { names[$0] == "application-\($0)" })
  }

  /// Its checksum is right. There never was a version 0, and a header has one length.
  @Test(
    arguments: [(8, 1, .good), (8, 0, .damaged), (8, 2, .newer), (10, 130, .damaged)]
      as [(Int, UInt16, FileHeader.Verdict)])
  func whatAHeaderSaysOfItselfDecidesWhatItIs(place: Int, number: UInt16, verdict: FileHeader.Verdict) {
    let buffer = ByteBuffer()
    FileHeader.begin(
      buffer, magic: FileHeader.journalMagic, state: 0, id: PageID(high: 1, low: 2), generation: 0)
    unsafe buffer.base.store(number, at: place)
    FileHeader.end(buffer, start: 0)
    #expect(unsafe FileHeader.judge(buffer.bytes, magic: FileHeader.journalMagic) == verdict)
  }

  /// No bytes need have no address.
  @Test func noBytesAreAsGoodWithoutAnAddress() {
    let nowhere = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
    let (key, codec, buffer) = ([UInt8(97)], FrameCodec(salt: 7), ByteBuffer())
    let frame = unsafe buffer.appendPut(nowhere.bytes, for: key.span.bytes)
    buffer.sealFrame(frame, FrameType(.put), offset: 0, codec: codec)
    guard case .good(FrameType(.put), length: 3) = codec.check(buffer, 0, available: buffer.count, offset: 0) else {
      Issue.record("the frame does not verify")
      return
    }
    #expect(buffer.lend(9..<12) { $0.array } == [1, 0, 97])
    guard case .needs(Limits.frameOverhead) = unsafe codec.check(nowhere.bytes, offset: 0) else {
      Issue.record("a frame is found in nothing")
      return
    }
  }

  @Test func aBatchThatWouldGetTooLongIsRefusedBeforeAnythingIsCopied() throws {
    // Memory that is only counted, never read or written.
    let huge = UnsafeMutableRawBufferPointer.allocate(byteCount: Limits.batchBytes, alignment: 1)
    defer { unsafe huge.deallocate() }
    unsafe huge[0] = 1
    let key = unsafe UnsafeRawBufferPointer(rebasing: huge[..<1])
    let batch = BatchFrames()
    try unsafe batch.put(key, before: nil, key)
    let before = batch.buffer.count
    for room in [Limits.batchBytes, Limits.batchBytes - Limits.batchReserve] {
      let value = unsafe UnsafeRawBufferPointer(rebasing: huge[..<room])
      let error = #expect(throws: LogStoreError.self) { try unsafe batch.put(key, before: nil, value) }
      #expect(error?.code == .tooLarge)
      #expect(batch.buffer.count == before && batch.operations == 1)
    }
  }

  /// A batch is copied and sealed in pieces; its frames are shorter and longer than those.
  @Test func everyFrameOfALongBatchVerifiesWhereItStands() throws {
    var batch = WriteBatch()
    let lengths = [100, 0, 40_000, 32 << 10, 1, 200_000, 9] + (0..<700).map { $0 % 150 } + [70_000]
    for (number, length) in lengths.enumerated() {
      try batch.put([UInt8](repeating: UInt8(number & 0xFF), count: length), for: "\(number)")
    }
    let codec = FrameCodec(salt: 7)
    let target = ByteBuffer()
    target.append(UInt64(1))
    batch.unsealed.seal(into: target, origin: 1000, codec: codec)
    var place = 8
    for (number, length) in lengths.enumerated() {
      let check = unsafe codec.check(
        UnsafeRawPointer(target.base + place), available: target.count - place, offset: 1000 + UInt64(place))
      guard case .good(let type, let payload) = check else {
        Issue.record("frame \(number) does not verify")
        return
      }
      #expect(type == FrameType(.put, first: number == 0, last: number == lengths.count - 1))
      #expect(payload == 2 + "\(number)".utf8.count + length)
      let bytes = unsafe UnsafeRawBufferPointer(rebasing: target.bytes[place..<place + Limits.frameOverhead + payload])
      #expect(unsafe bytes.suffix(length).allSatisfy { $0 == UInt8(number & 0xFF) })
      place += Limits.frameOverhead + payload
    }
    #expect(place == target.count)
  }

  @Test func aBatchThatIsUsedAgainKeepsWhatItNeedsAndNoMore() throws {
    var batch = WriteBatch()
    let value = [UInt8](repeating: 1, count: 40_800)
    for number in 0..<100 { try batch.put(value, for: "\(number)") }
    let capacity = batch.unsealed.buffer.capacity
    batch.removeAll()
    #expect(batch.unsealed.buffer.capacity == capacity)
    try batch.put(value, for: "a")
    batch.removeAll()
    #expect(batch.unsealed.buffer.capacity <= 1 << 20)
  }
}
