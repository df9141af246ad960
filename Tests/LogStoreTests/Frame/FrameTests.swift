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

  @Test func aHeaderThatGivesItselfAnotherLengthIsDamaged() {
    let buffer = ByteBuffer()
    FileHeader.begin(
      buffer, magic: FileHeader.journalMagic, state: 0, id: PageID(high: 1, low: 2), generation: 0)
    unsafe buffer.base.store(UInt16(130), at: 10)
    FileHeader.end(buffer, start: 0)
    #expect(unsafe FileHeader.judge(buffer.bytes, magic: FileHeader.journalMagic) == .damaged)
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
}
