import LogStore
import LogStoreTesting
import Testing

@testable import CrashHarness

/// A copy of a page in use, its files taken in any order and at any time, opens to an earlier committed state.
@Suite struct CopyTests {
  /// The values that keys `0`, `1`, … have after so many writes: each write changes one of four keys.
  private static func table(after writes: Int) -> OrderedTable {
    var table = OrderedTable()
    for write in 0..<writes { table.apply(.put(bytes("\(write % 4)"), bytes("value \(write)"))) }
    return table
  }

  @Test func aSnapshotWithoutTheJournalOfItsNumberIsIncomplete() throws {
    let storage = SimulatedStorage(seed: 1)
    let page = try Page.open(storage)
    try page.put("one", for: "a")
    try page.compact(keep: Retention.none)
    try page.close()
    storage.delete(pagePath + "/0000000001.journal")
    let copy = try Page.open(storage, .readOnly)
    #expect(copy.report.isIncomplete)
    #expect(copy.report.findings.contains { $0.kind == .missing && $0.file == "0000000001.journal" })
    #expect(try copy.keys() == ["a"])
  }

  @Test(arguments: Seeds.some(1..<121))
  func aCopyWhoseFilesAreTakenAtAnyTimeIsAnEarlierState(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let storage = SimulatedStorage(seed: seed)
    var page = try Page.open(storage)
    var writes = 0
    func goOn() throws {
      for _ in 0..<Int.random(in: 0...6, using: &random) {
        switch random.next() % 8 {
        case 0: try page.compact(keep: random.next() % 2 == 0 ? .previous : .all)
        case 1:
          try page.close()
          page = try Page.open(storage)
        default:
          try page.put("value \(writes)", for: "\(writes % 4)", durability: random.next() % 2 == 0 ? .power : .process)
          writes += 1
        }
        storage.clock.advance(by: .seconds(20))
      }
    }
    try goOn()
    try goOn()
    let start = writes
    storage.makeDirectory("/copy")
    // As `cp -R` does it: list once, then file by file, while the page goes on.
    for name in storage.names(in: pagePath).shuffled(using: &random) {
      if let contents = storage.contents(of: pagePath + "/" + name) { storage.place(contents, at: "/copy/" + name) }
      try goOn()
    }
    var options = quietOptions(storage)
    options.storage = storage
    let copy = try Page(path: "/copy", mode: .readWrite, options: options)
    let lsn = Int(copy.position.lsn)
    #expect(lsn <= writes)
    // Whoever writes only at the end of what was there may have had it copied before; nothing older than the start is shown
    // where the newest journal was in the list.
    #expect(try copy.table() == CopyTests.table(after: lsn), "seed \(seed): LSN \(lsn), copying began at \(start)")
    #expect(lsn >= start || copy.report.isIncomplete || !copy.report.findings.isEmpty, "seed \(seed)")
    // The copy lives on by itself, and the original is not disturbed.
    let salts = Set([copy.position.salt, page.position.salt])
    try copy.put("copy", for: "new")
    try page.put("original", for: "new")
    #expect(copy.position.salt != page.position.salt, "seed \(seed), \(salts.count)")
    try copy.close()
    let again = try Page(path: "/copy", mode: .readOnly, options: options)
    #expect(try again.value("new") == "copy")
    #expect(again.position.lsn == UInt64(lsn) + 1)
  }

  @Test func aCopyOfAClosedPageStartsAJournalOfItsOwnAtItsFirstWrite() throws {
    let storage = SimulatedStorage(seed: 1)
    let page = try Page.open(storage)
    try page.put("one", for: "a")
    try page.close()
    storage.copy(pagePath, to: "/copy")
    let copy = try Page(path: "/copy", mode: .readWrite, options: quietOptions(storage))
    #expect(copy.report.findings.contains { $0.kind == .copied })
    try copy.put("two", for: "b")
    #expect(storage.names(in: "/copy") == ["0000000000.journal", "0000000001.journal"])
    #expect(storage.contents(of: "/copy/0000000000.journal") == storage.contents(of: pagePath + "/0000000000.journal"))
    #expect(copy.id == page.id)
  }

  /// What the marks of the original call durable is in the copy as it is in the cache; so is the name of the copy itself.
  @Test(arguments: [false, true], [false, true])
  func whatIsWrittenIntoACopyThatNobodyHasSyncedOutlivesThePower(isCompacted: Bool, isClosed: Bool) throws {
    let storage = SimulatedStorage(seed: 1)
    let page = try Page.open(storage)
    for number in 0..<4 { try page.put("value", for: "\(number)") }
    if isCompacted {
      try page.compact(keep: Retention.none)
      try page.put("value", for: "4")
    }
    let keys = try page.keys()
    if isClosed { try page.close() } else { try page.sync() }
    storage.copy(pagePath, to: "/copy", synced: false)
    #expect(storage.names(in: "/copy") == storage.names(in: pagePath))
    let options = quietOptions(storage)
    let copy = try Page(path: "/copy", mode: .readWrite, options: options)
    #expect(try copy.keys() == keys)
    try copy.put("value", for: "new", durability: .power)
    let left = storage.crash(.powerCut(.dropUnsynced))
    let again = try Page(path: "/copy", mode: .readWrite, options: quietOptions(left))
    #expect(try again.keys() == keys + ["new"])
    #expect(!again.report.hasDamage && !again.report.isIncomplete)
  }

  @Test func aCompactionSetsAsideWhatAGapHasCutOff() throws {
    let storage = SimulatedStorage(seed: 7)
    for round in 0..<4 {
      let page = try Page.open(storage)
      for number in 0..<3 { try page.put("v", for: "\(round).\(number)") }
    }
    let names = storage.names(in: pagePath)
    let contents = names[2...].map { storage.contents(of: pagePath + "/" + $0) }
    storage.delete(pagePath + "/" + names[1])
    try Page.open(storage).compact(keep: Retention.none)
    let aside = storage.names(in: pagePath).filter { $0.hasSuffix(".quarantine") }
    #expect(aside.map { storage.contents(of: pagePath + "/" + $0) } == contents)
  }

  @Test func aSalvageSaysThatTheNewestJournalIsShorterThanItBegan() throws {
    var storage = SimulatedStorage(seed: 6)
    let page = try Page.open(storage)
    for number in 0..<3 { try page.put("v", for: "\(number)") }
    storage = storage.crash(.kill)
    // What the first journal does not say to be durable is carried into a second.
    _ = try Page.open(storage)
    let newest = storage.names(in: pagePath).last { $0.hasSuffix(".journal") }!
    storage.edit(pagePath + "/" + newest) { $0.removeLast($0.count - 128) }
    let report = try PageInspector(path: pagePath, storage: storage).salvage(to: "/new", options: quietOptions(storage))
    #expect(report.findings.contains { $0.kind == .missing && $0.file == newest && $0.severity == .damage })
  }

  @Test func aPartOfACopyEndsBeforeTheGapAndSaysSo() throws {
    let storage = SimulatedStorage(seed: 2)
    for round in 0..<4 {
      let page = try Page.open(storage)
      for number in 0..<3 { try page.put("v", for: "\(round).\(number)") }
    }
    let names = storage.names(in: pagePath)
    #expect(names.count == 4)
    // Each journal cut at each of a few places, the later ones whole.
    for (index, name) in names.enumerated().dropLast() {
      let length = storage.contents(of: pagePath + "/" + name)!.count
      for cut in [1, 30, length - 129] {
        let part = storage.crash(.kill)
        part.edit(pagePath + "/" + name) { $0.removeLast(cut) }
        do {
          let page = try Page.open(part)
          let keys = try page.keys()
          let whole = (0..<4).flatMap { round in (0..<3).map { "\(round).\($0)" } }
          #expect(keys == Array(whole.prefix(keys.count)))
          #expect(keys.count < 3 * (index + 1) || cut == 1 || cut == 30)
          if keys.count < 12 { #expect(page.report.isIncomplete, "\(name) cut by \(cut)") }
          // A writer goes on from there, and the rest does not come back.
          try page.put("new", for: "new")
          #expect(try Page.open(part.crash(.powerCut(.dropUnsynced))).keys() == keys + ["new"])
        } catch let error as LogStoreError {
          #expect([.noBase, .damaged].contains(error.code), "\(name) cut by \(cut): \(error)")
        }
      }
    }
  }

  @Test func aJournalMissingInTheMiddleIsAGapAndNotSkipped() throws {
    let storage = SimulatedStorage(seed: 3)
    for round in 0..<4 { try Page.open(storage).put("v", for: "\(round)") }
    for (index, name) in storage.names(in: pagePath).enumerated() {
      let part = storage.crash(.kill)
      part.delete(pagePath + "/" + name)
      do {
        let page = try Page.open(part)
        #expect(try page.keys() == (0..<index).map { "\($0)" })
        #expect(page.report.isIncomplete || index == 3)
        #expect(index > 0)
      } catch {
        #expect(index == 0, "\(error)")
        #expect((error as? LogStoreError)?.code == .noBase)
      }
    }
  }

  @Test func aCopyOfRealFilesTakenWhileAThreadWritesOpens() throws {
    let folder = TemporaryFolder()
    let (path, copies) = (folder.path + "/page", 12)
    var options = PageOptions()
    options.compaction = .manual
    let page = try Page(path: path, options: options)
    let stop = Shared(false)
    let failure = Shared<String?>(nil)
    let done = onThread {
      var write = 0
      while !stop.current {
        do {
          try page.put("value \(write)", for: "\(write % 4)", durability: .process)
          write += 1
          if write % 500 == 0 { try page.compact() }
        } catch {
          return failure.change { $0 = "\(error)" }
        }
      }
    }
    var random = SeededRandom(seed: 4)
    for number in 0..<copies {
      let target = folder.path + "/copy\(number)"
      try FileSystemStorage().openDirectory(target, create: true).close()
      for name in TemporaryFolder.names(in: path).shuffled(using: &random) {
        if let contents = TemporaryFolder.read(path + "/" + name) {
          TemporaryFolder.write(contents, to: target + "/" + name)
        }
      }
      let copy = try Page(path: target, mode: .readWrite, options: options)
      let lsn = Int(copy.position.lsn)
      #expect(try copy.table() == CopyTests.table(after: lsn))
      try copy.close()
    }
    stop.change { $0 = true }
    #expect(done.wait())
    #expect(failure.current == nil)
    try page.close()
  }
}
