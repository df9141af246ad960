import LogStore
import Testing

/// Counts what it is told to, and remembers the last words.
private struct Tally: PageState {
  static let identifier: UInt32 = 0x5461_6C79
  static let add = FrameKind(rawValue: 32)
  static let say = FrameKind(rawValue: 63)
  struct Refusal: Error {}

  var total = 0
  var words = ""

  mutating func apply(_ kind: FrameKind, _ payload: RawSpan) throws {
    let bytes = (0..<payload.byteCount).map { unsafe payload.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
    switch kind {
    case Tally.add: total += bytes.reduce(0) { $0 + Int($1) }
    case Tally.say: words = String(decoding: bytes, as: UTF8.self)
    default: throw Refusal()
    }
  }

  func write(to writer: inout StateWriter) throws {
    var rest = total
    while rest > 0 {
      let piece = [UInt8](repeating: 255, count: min(rest / 255, 4096))
      try writer.append(Tally.add, piece.isEmpty ? [UInt8(rest)] : piece)
      rest -= piece.isEmpty ? rest : piece.count * 255
    }
    try writer.append(Tally.say, words)
  }
}

private struct Other: PageState {
  static let identifier: UInt32 = 2
  mutating func apply(_ kind: FrameKind, _ payload: RawSpan) {}
  func write(to writer: inout StateWriter) {}
}

/// Takes anything in, and cannot write itself out.
private struct Mute: PageState {
  static let identifier: UInt32 = 3
  struct Refusal: Error {}
  var applied = 0
  mutating func apply(_ kind: FrameKind, _ payload: RawSpan) { applied += 1 }
  func write(to writer: inout StateWriter) throws { throw Refusal() }
}

@Suite struct StatePageTests {
  let place = TemporaryPage()

  private func open(_ mode: OpenMode = .create) throws -> StatePage<Tally> {
    var options = PageOptions()
    options.durability = .process
    options.compaction = .manual
    return try StatePage<Tally>(path: place.path, mode: mode, options: options)
  }

  private func batch(_ amounts: [UInt8], _ words: String) throws -> WriteBatch {
    var batch = WriteBatch()
    try batch.append(Tally.add, amounts)
    try batch.append(Tally.say, words)
    return batch
  }

  @Test func aStateIsReplayedCompactedAndReopened() throws {
    for round in 1...4 {
      let page = try open()
      try page.write(batch([200, 100], "round \(round)"))
      let state = try page.state()
      #expect(state.total == 300 * round)
      #expect(state.words == "round \(round)")
      if round % 2 == 0 {
        try page.compact()
        #expect(try page.state().total == 300 * round)
      }
      try page.close()
    }
  }

  @Test func whatDoesNotBelongIsRefused() throws {
    let page = try open()
    var records = WriteBatch()
    try records.put("v", for: "k")
    let refused = #expect(throws: LogStoreError.self) { try page.write(records) }
    #expect(refused?.code == .wrongState)
    try page.write(batch([1], "x"))
    try page.close()
    #expect(throws: LogStoreError.self) { try Page(path: place.path) }
    let wrong = #expect(throws: LogStoreError.self) { try StatePage<Other>(path: place.path) }
    #expect(wrong?.code == .wrongState)
    #expect(try open().state().total == 1)
  }

  @Test func toolsWorkWithoutKnowingTheState() throws {
    let page = try open()
    try page.write(batch([5], "one"))
    try page.compact()
    try page.write(batch([6], "two"))
    try page.close()
    let inspector = PageInspector(path: place.path)
    #expect(try inspector.verify().findings.isEmpty)
    var kinds: [FrameKind] = []
    try inspector.frames { frame in
      kinds.append(frame.kind)
      return true
    }
    #expect(kinds.filter(\.isApplication).count == 4)
    let copy = TemporaryPage()
    let report = try inspector.salvage(to: copy.path)
    #expect(report.findings.isEmpty)
    let salvaged = try StatePage<Tally>(path: copy.path, mode: .readOnly)
    #expect(try salvaged.state().total == 11)
    #expect(try salvaged.state().words == "two")
  }

  @Test func aRefusedFrameIsAnErrorWithItsCause() throws {
    let page = try open()
    var strange = WriteBatch()
    try strange.append(FrameKind(rawValue: 40), "?")
    try page.write(strange)
    let error = #expect(throws: LogStoreError.self) { try page.state() }
    #expect(error?.code == .wrongState)
    #expect(error?.cause is Tally.Refusal)
    try page.close()
  }

  @Test func aStateThatCannotWriteItselfOutKeepsThePageAsItWas() throws {
    let mute = try StatePage<Mute>(path: place.path)
    var batch = WriteBatch()
    try batch.append(FrameKind(rawValue: 32), "x")
    try mute.write(batch)
    let error = #expect(throws: LogStoreError.self) { try mute.compact() }
    #expect(error?.code == .io)
    #expect(error?.cause is Mute.Refusal)
    #expect(try mute.state().applied == 1)
    try mute.close()
    #expect(try StatePage<Mute>(path: place.path).state().applied == 1)
  }
}
