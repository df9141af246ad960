import LogStore
import Testing

@Suite struct PageTests {
  let place = TemporaryPage()

  @Test func everyOperationMeansWhatItSays() throws {
    let page = try place.open()
    var batch = WriteBatch()
    for key in ["a", "b", "c", "d"] { try batch.put(key.uppercased(), for: key) }
    try batch.put("X", for: "x", before: "b")
    try batch.move("d", before: "a")
    try batch.moveToEnd("a")
    try batch.remove("c")
    try batch.put("B2", for: "b")
    #expect(batch.operationCount == 9)
    try page.write(batch)
    #expect(try page.view().texts() == ["d=D", "x=X", "b=B2", "a=A"])
    #expect(page.position.lsn == 9)
    let view = try page.view()
    #expect(try view.index(of: "b") == 2)
    #expect(try view.record(at: 1).key == bytes("x"))
    #expect(try text(view.value(for: "a")) == "A")
    #expect(try view.value(for: "c") == nil)
    try page.write(
      {
        var clear = WriteBatch(); try clear.clear(); return clear
      }())
    #expect(try page.view().isEmpty)
    #expect(view.count == 4, "a view is unaffected by later writes")
    try page.close()
  }

  /// A journal so long that another thread has the table take it in.
  @Test func aLongJournalIsTakenInAsItWasWritten() throws {
    let page = try place.open()
    var number = 0
    for round in 0..<70 {
      var batch = WriteBatch()
      for _ in 0..<400 {
        number += 1
        let key = "key \(number &* 0x9E37_79B9 % 5000)"
        switch number % 16 {
        case 0: try batch.remove(key)
        case 1: try batch.move(key, before: "key 17")
        default: try batch.put("\(number) " + String(repeating: "long ", count: 40), for: key)
        }
      }
      if round == 20 { try batch.clear() }
      try page.write(batch, durability: .process)
      // In small steps here.
      _ = try page.view()
    }
    let expected = try page.view().records()
    try page.close()
    #expect(expected.count > 4000)
    #expect(try place.open(.readOnly).view().records() == expected)
    let error = #expect(throws: LogStoreError.self) {
      try place.open(.readOnly) { $0.onProgress = { $0.completedBytes == 0 } }
    }
    #expect(error?.code == .cancelled)
    #expect(try place.open().view().records() == expected)
  }

  @Test func aBatchThatRefusesAnOperationStaysAsItWas() throws {
    var batch = WriteBatch()
    try batch.put("1", for: "k")
    #expect(throws: LogStoreError.self) { try batch.put("2", for: "") }
    #expect(throws: LogStoreError.self) { try batch.put("2", for: [UInt8](repeating: 1, count: 1025)) }
    #expect(throws: LogStoreError.self) { try batch.append(.put, "2") }
    #expect(batch.operationCount == 1)
    var copy = batch
    try copy.put("3", for: "other")
    #expect(batch.operationCount == 1 && copy.operationCount == 2, "batches are values")
  }

  @Test func stateSurvivesReopeningAndCompactionInAnyOrder() throws {
    var expected: [String] = []
    for round in 0..<6 {
      let page = try place.open()
      #expect(try page.view().texts() == expected)
      try page.put("\(round)", for: "k\(round)")
      if round == 3 { try page.remove("k1") }
      if round % 2 == 0 { try page.compact() }
      try page.put("new", for: "k0")
      expected = try page.view().texts()
      try page.close()
    }
    #expect(expected == ["k0=new", "k2=2", "k3=3", "k4=4", "k5=5"])
    let report = try place.open(.readOnly).report
    #expect(report.findings.isEmpty)
  }

  @Test func keysAndValuesOfEverySizeComeBack() throws {
    let page = try place.open()
    let sizes = [0, 1, 127, 4096, 65_535, 65_536, 1 << 20, (1 << 20) + 1, 5 << 20]
    for size in sizes {
      let value = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
      try page.put(value, for: [UInt8](repeating: UInt8(size % 251), count: 1 + size % 1024))
    }
    for isCompacted in [false, true] {
      if isCompacted { try page.compact() }
      let view = try page.view()
      for (index, size) in sizes.enumerated() {
        let record = try view.record(at: index)
        #expect(record.value.count == size)
        #expect(record.value.indices.allSatisfy { record.value[$0] == UInt8(truncatingIfNeeded: $0 &* 31) })
        #expect(try view.value(for: record.key) == record.value)
      }
    }
    try page.close()
  }

  @Test func aValueOfSeveralFramesComesBackWhole() throws {
    let page = try place.open()
    let value = [UInt8](repeating: 7, count: (65 << 20) + 5)
    try page.put(value, for: "large")
    try page.put("small", for: "after")
    #expect(try page.view().value(for: "large") == value)
    try page.compact()
    #expect(try page.view().value(for: "large") == value)
    try page.close()
    let again = try place.open(.readOnly)
    #expect(try again.view().value(for: "large") == value)
    #expect(try text(again.view().value(for: "after")) == "small")
  }

  @Test func aWriterMayDemandAPosition() throws {
    let page = try place.open()
    let first = try page.put("1", for: "k")
    var batch = WriteBatch()
    try batch.put("2", for: "k")
    let second = try page.write(batch, expecting: first)
    #expect(throws: LogStoreError.self) { try page.write(batch, expecting: first) }
    do {
      try page.write(batch, expecting: first)
    } catch {
      #expect(error.code == .conflict)
    }
    do {
      try page.write(batch, expecting: Position(salt: 1, lsn: second.lsn))
    } catch {
      #expect(error.code == .historyChanged)
    }
    // Compaction changes the journal, not the history.
    try page.compact()
    try page.write(batch, expecting: second)
    #expect(page.position.lsn == 3)
    try page.close()
  }

  @Test func pastMomentsCanBeReadAsFarBackAsGenerationsAreKept() throws {
    let page = try place.open { $0.retention = .all }
    for round in 1...20 {
      try page.put("\(round)", for: "k")
      if round % 6 == 0 { try page.compact() }
    }
    try page.close()
    var options = PageOptions()
    options.durability = .process
    for lsn in UInt64(0)...20 {
      let past = try Page(path: place.path, mode: .readOnly, options: options, at: .lsn(lsn))
      #expect(past.position.lsn == lsn)
      #expect(try text(past.view().value(for: "k")) == (lsn == 0 ? nil : "\(lsn)"))
    }
    let error = #expect(throws: LogStoreError.self) {
      try Page(path: place.path, mode: .readOnly, options: options, at: .lsn(21))
    }
    #expect(error?.code == .notKept)
    #expect(error?.message.contains("from LSN 0 (2") == true)
    #expect(error?.message.contains("Z) to 20;") == true)
    let early = #expect(throws: LogStoreError.self) {
      try Page(path: place.path, mode: .readOnly, options: options, at: .time(nanoseconds: 1_000_000_000))
    }
    #expect(early?.code == .notKept)
    let late = try Page(path: place.path, mode: .readOnly, options: options, at: .time(nanoseconds: .max))
    #expect(late.position.lsn == 20)
  }

  @Test func compactionWithoutRetentionForgetsThePast() throws {
    let page = try place.open()
    try page.put("1", for: "k")
    try page.compact()
    try page.put("2", for: "k")
    let summary = try page.compact(keep: Retention.none)
    #expect(summary.removedFiles.count == 3)
    #expect(try place.names() == ["0000000002.journal", "0000000002.snapshot"])
    try page.close()
    let error = #expect(throws: LogStoreError.self) {
      try Page(path: place.path, mode: .readOnly, at: .lsn(1))
    }
    #expect(error?.code == .notKept)
    #expect(error?.message.contains("from LSN 2 (2") == true)
  }

  @Test func anEstimateChangesNothingAndComesNear() throws {
    let page = try place.open()
    for index in 0..<500 { try page.put([UInt8](repeating: 1, count: 100), for: "k\(index % 50)") }
    let names = try place.names()
    let estimate = try page.compactionEstimate(keep: Retention.none)
    #expect(try place.names() == names)
    let summary = try page.compact(keep: Retention.none)
    #expect(estimate.removedFiles == summary.removedFiles)
    #expect(Double(estimate.snapshotBytes) > 0.8 * Double(summary.snapshotBytes))
    #expect(Double(estimate.snapshotBytes) < 1.3 * Double(summary.snapshotBytes))
    try page.close()
  }

  @Test func suspendLetsGoAndResumeSeesWhatAnotherWriterDid() throws {
    let page = try place.open()
    try page.put("1", for: "k")
    try page.suspend()
    do {
      try page.put("2", for: "k")
      Issue.record("a suspended page was written to")
    } catch {
      #expect(error.code == .suspended)
    }
    let other = try place.open()
    try other.put("other", for: "k")
    try other.close()
    try page.resume()
    #expect(try text(page.view().value(for: "k")) == "other")
    try page.suspend()
    try page.resume()
    try page.put("3", for: "k")
    #expect(try text(page.view().value(for: "k")) == "3")
    try page.close()
    #expect(try place.open(.readOnly).report.findings.isEmpty)
  }

  @Test func aReaderRefreshes() throws {
    let page = try place.open()
    try page.put("1", for: "k")
    let reader = try place.open(.readOnly)
    #expect(try text(reader.view().value(for: "k")) == "1")
    try page.put("2", for: "k")
    try page.compact()
    try page.put("3", for: "k")
    #expect(try text(reader.view().value(for: "k")) == "1")
    try reader.refresh()
    #expect(try text(reader.view().value(for: "k")) == "3")
    try page.close()
  }

  /// Closing waits for a compaction to end: from its own progress handler that would be for ever.
  @Test(.timeLimit(.minutes(1))) func aProgressHandlerThatClosesIsRefusedAndNotStuck() throws {
    let page = try place.open()
    try page.put("1", for: "k")
    try page.compact { _ in
      for end in [{ try page.close() }, { try page.suspend() }] {
        do {
          try end()
          Issue.record("closed or suspended inside a compaction")
        } catch {
          #expect((error as? LogStoreError)?.code == .busy)
        }
      }
      return true
    }
    try page.put("2", for: "k")
    try page.close()
    #expect(try text(place.open(.readOnly).view().value(for: "k")) == "2")
  }

  @Test func deflatedSnapshotsHoldTheSame() throws {
    let page = try place.open { $0.compression = .deflate }
    for index in 0..<3000 { try page.put(String(repeating: "stroke \(index % 7) ", count: 8), for: "k\(index)") }
    let before = try page.view().records()
    let summary = try page.compact()
    #expect(summary.snapshotBytes < summary.bytesBefore / 2)
    #expect(try page.view().records() == before)
    try page.close()
  }
}
