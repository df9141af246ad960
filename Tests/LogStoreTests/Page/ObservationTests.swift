import LogStore
import Testing

@Suite struct ObservationTests {
  let place = TemporaryPage()

  @Test func changesBeginWithThePresentAndEndWithThePage() async throws {
    let page = try place.open()
    try await page.put("0", for: "k")
    let observer = Task {
      var seen: [Int] = []
      for try await view in page.changes {
        let text = try text(view.value(for: "k")) ?? "-1"
        seen.append(Int(text) ?? -2)
        if text == "99" { break }
      }
      return seen
    }
    for round in 1...99 {
      try await page.put("\(round)", for: "k")
      if round == 40 { _ = try await page.compact() as CompactionSummary }
    }
    let seen = try await observer.value
    #expect(seen == seen.sorted(), "never out of order")
    #expect(Set(seen).count == seen.count, "never twice")
    #expect(seen.last == 99)
    let ended = Task { () -> Int in
      var count = 0
      for try await _ in page.changes { count += 1 }
      return count
    }
    try await Task.sleep(for: .milliseconds(20))
    try await page.close()
    #expect(try await ended.value <= 1)
  }

  @Test func theOperationsOfAClosedPageEndAlsoWhereTheyBeginInAnOlderJournal() async throws {
    let page = try place.open()
    let before = page.position
    try await page.put("1", for: "k")
    _ = try await page.compact() as CompactionSummary
    try await page.close()
    var seen = 0
    for try await _ in page.operations(after: before) { seen += 1 }
    #expect(seen == 0)
  }

  @Test(.timeLimit(.minutes(1)), arguments: [OpenMode.readWrite, .readOnly])
  func anObserverOfASuspendedPageGoesOnWhenItResumes(mode: OpenMode) async throws {
    let writer = try place.open()
    try await writer.put("0", for: "k")
    try await writer.close()
    let page = try place.open(mode)
    try await page.suspend()
    let observer = Task {
      for try await view in page.changes { return view.count }
      return -1
    }
    try await Task.sleep(for: .milliseconds(20))
    try await page.resume()
    #expect(try await observer.value == 1)
    try await page.close()
  }

  @Test func cancellingAnObserverEndsItsIteration() async throws {
    let page = try place.open()
    let observers = (0..<8).map { _ in
      Task {
        var count = 0
        for try await _ in page.changes { count += 1 }
        return count
      }
    }
    try await Task.sleep(for: .milliseconds(20))
    for observer in observers { observer.cancel() }
    for observer in observers { _ = try await observer.value }
    try await page.put("still", for: "works")
    try await page.close()
  }

  @Test func operationsLoseNothingOverCompactionsAndReopening() async throws {
    var options = PageOptions()
    options.retention = .all
    options.durability = .process
    options.compaction = .manual
    let start = try Page(path: place.path, options: options)
    let origin = start.position
    for index in 0..<50 {
      try await start.put("\(index)", for: "k\(index)")
      if index % 10 == 9 { _ = try await start.compact() as CompactionSummary }
    }
    var seen: [UInt64] = []
    var middle = origin
    try start.readOperations(after: origin) { batch in
      seen.append(batch.position.lsn)
      if batch.position.lsn == 23 { middle = batch.position }
      guard case .put(_, let value) = batch.operations[0] else { return false }
      #expect(text(value) == "\(batch.position.lsn - 1)")
      return true
    }
    #expect(seen == Array(1...50))
    try await start.close()

    let again = try Page(path: place.path, options: options)
    let resumed = middle
    let follower = Task {
      var lsns: [UInt64] = []
      for try await batch in again.operations(after: resumed) {
        lsns.append(batch.position.lsn)
        if batch.position.lsn == 60 { break }
      }
      return lsns
    }
    for index in 50..<60 { try await again.put("\(index)", for: "k\(index)") }
    #expect(try await follower.value == Array(24...60))
    try await again.close()
  }

  @Test(.timeLimit(.minutes(1)), arguments: 0..<12)
  func aCursorFollowsOverAnyNumberOfCompactions(seed: UInt64) async throws {
    var options = PageOptions()
    options.retention = .all
    options.durability = .process
    options.compaction = .manual
    let page = try Page(path: place.path, options: options)
    var iterator = page.operations(after: page.position).makeAsyncIterator()
    var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    var delivered: UInt64 = 0
    for _ in 0..<24 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      switch state >> 61 {
      case 0...2: try await page.put("v", for: "k\(state >> 40)")
      case 3...5: _ = try await page.compact() as CompactionSummary
      default:
        guard delivered < page.position.lsn else { continue }
        delivered += 1
        #expect(try await iterator.next()?.position.lsn == delivered)
      }
    }
    while delivered < page.position.lsn {
      delivered += 1
      #expect(try await iterator.next()?.position.lsn == delivered)
    }
    try await page.close()
  }

  @Test func aPositionThatIsNotOnTheHistoryIsNamed() throws {
    let page = try place.open()
    let kept = try page.put("1", for: "k")
    #expect(throws: LogStoreError.self) {
      try page.readOperations(after: Position(salt: 42, lsn: 1)) { _ in true }
    }
    let ahead = #expect(throws: LogStoreError.self) {
      try page.readOperations(after: Position(salt: kept.salt, lsn: 9)) { _ in true }
    }
    #expect(ahead?.code == .historyChanged)
    try page.compact(keep: Retention.none)
    try page.put("2", for: "k")
    try page.compact(keep: Retention.none)
    try page.put("3", for: "k")
    let gone = #expect(throws: LogStoreError.self) { try page.readOperations(after: kept) { _ in true } }
    #expect(gone?.code == .notKept)
    try page.close()
  }
}
