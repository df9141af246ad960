import Dispatch
import LogStoreTesting
import Testing

@testable import CrashHarness
@testable import LogStore

/// Many threads and tasks on one page. Run under the thread sanitizer as well.
@Suite(.serialized) struct ConcurrencyTests {
  /// Each writer's own keys hold its last value, and the log has one place for each operation.
  private func check(_ page: Page, writers: Int, writes: Int) throws {
    let view = try page.view()
    #expect(view.count == writers * 4)
    for writer in 0..<writers {
      for key in 0..<4 {
        let last = (0..<writes).last { $0 % 4 == key }!
        #expect(try view.value(for: "\(writer).\(key)") == bytes("\(last)"), "writer \(writer)")
      }
    }
    #expect(page.position.lsn == UInt64(writers * writes))
  }

  private func write(_ page: Page, _ writer: Int, _ writes: Int, _ positions: Shared<Set<UInt64>>) {
    for number in 0..<writes {
      do {
        let position = try page.put(
          "\(number)", for: "\(writer).\(number % 4)", durability: number % 3 == 0 ? .power : .process)
        positions.change { $0.insert(position.lsn) }
      } catch {
        Issue.record("writer \(writer): \(error)")
      }
    }
  }

  private func writeAsync(_ page: Page, _ writer: Int, _ writes: Int, _ positions: Shared<Set<UInt64>>) async {
    for number in 0..<writes {
      do {
        let position = try await page.put(
          "\(number)", for: "\(writer).\(number % 4)", durability: number % 3 == 0 ? .power : .process)
        positions.change { $0.insert(position.lsn) }
      } catch {
        Issue.record("writer \(writer): \(error)")
      }
    }
  }

  @Test func threadsAndTasksTogetherLoseAndDoubleNothing() async throws {
    let storage = SimulatedStorage(seed: 1)
    let page = try await Page.open(path: pagePath, options: quietOptions(storage))
    let (writers, writes) = (8, 60)
    let positions = Shared<Set<UInt64>>([])
    let threads = (0..<4).map { writer in onThread { write(page, writer, writes, positions) } }
    let stop = Shared(false)
    let compactor = onThread {
      while !stop.current {
        do { try page.compact(keep: Retention.none) } catch { Issue.record("compaction: \(error)") }
      }
    }
    let reader = onThread {
      var last: UInt64 = 0
      while !stop.current {
        do {
          let view = try page.view()
          #expect(view.position.lsn >= last)
          last = view.position.lsn
          #expect(try view.records().count == view.count)
        } catch { Issue.record("reader: \(error)") }
      }
    }
    await withTaskGroup(of: Void.self) { group in
      for writer in 4..<writers { group.addTask { await writeAsync(page, writer, writes, positions) } }
    }
    for thread in threads { #expect(thread.wait()) }
    stop.change { $0 = true }
    #expect(compactor.wait())
    #expect(reader.wait())
    #expect(positions.current.count == writers * writes)
    try check(page, writers: writers, writes: writes)
    try await page.close()
    let again = try await Page.open(path: pagePath, options: quietOptions(storage.crash(.powerCut(.dropUnsynced))))
    try check(again, writers: writers, writes: writes)
  }

  @Test func aTaskThatIsCancelledAnywhereLeavesThePageWriting() async throws {
    let storage = SimulatedStorage(seed: 2)
    let page = try await Page.open(path: pagePath, options: quietOptions(storage))
    for round in 0..<60 {
      let task = Task {
        try await page.put("value", for: "cancelled \(round)")
        _ = try await page.view()
        try await page.sync()
        if round % 10 == 0 { try await page.compact() }
      }
      if round % 2 == 0 { await Task.yield() }
      if round % 3 == 0 { try await Task.sleep(for: .microseconds(round * 20)) }
      task.cancel()
      do {
        try await task.value
      } catch {
        #expect((error as? LogStoreError)?.code == .cancelled, "round \(round): \(error)")
      }
      try await page.put("value", for: "after \(round)")
      #expect(try await page.view().contains("after \(round)"))
    }
    try await page.close()
  }

  @Test func aWriteThatIsWithdrawnIsNotWritten() async throws {
    let storage = SimulatedStorage(seed: 3)
    let page = try await Page.open(path: pagePath, options: quietOptions(storage))
    let (inside, goOn) = (Turn(), Turn())
    let isArmed = Shared(true)
    storage.watch { call in
      guard call.operation == .write, isArmed.exchange(false) else { return }
      inside.come()
      _ = goOn.wait()
    }
    let first = onThread {
      do { try page.put("one", for: "a") } catch { Issue.record("\(error)") }
    }
    #expect(inside.wait())
    let second = Task { try await page.put("two", for: "b") }
    #expect(eventually { page.core.queue.waiting == 1 })
    second.cancel()
    await #expect(throws: LogStoreError.self) { try await second.value }
    goOn.come()
    #expect(first.wait())
    storage.watch(nil)
    #expect(try await page.view().count == 1)
    try await page.put("three", for: "c")
    #expect(try keys(storage.crash(.powerCut(.dropUnsynced))) == ["a", "c"])
  }

  private func keys(_ storage: SimulatedStorage) throws -> [String] { try Page.open(storage).keys() }

  @Test func moreObserversThanThreadsSeeTheLastStateAndTheEnd() async throws {
    let storage = SimulatedStorage(seed: 4)
    let page = try await Page.open(path: pagePath, options: quietOptions(storage))
    let (observers, writes) = (40, 60)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<observers {
        group.addTask {
          var last: UInt64 = 0
          var isFirst = true
          do {
            for try await view in page.changes {
              #expect(isFirst || view.position.lsn > last)
              (last, isFirst) = (view.position.lsn, false)
              // The last write is waited for, before anybody closes.
              if last == UInt64(writes) { return }
            }
            Issue.record("an observer ended at \(last)")
          } catch { Issue.record("observer: \(error)") }
        }
      }
      group.addTask {
        for number in 0..<writes {
          do { try await page.put("\(number)", for: "\(number % 5)", durability: .process) } catch {
            Issue.record("\(error)")
          }
        }
      }
    }
    let late = Task {
      var seen = 0
      for try await _ in page.changes { seen += 1 }
      return seen
    }
    try await Task.sleep(for: .milliseconds(50))
    try await page.close()
    #expect(try await late.value <= 1)
  }

  @Test func everyObserverOfOperationsGetsEachOnceInOrderAlsoAcrossCompactions() async throws {
    let storage = SimulatedStorage(seed: 5)
    let page = try await Page.open(path: pagePath, options: quietOptions(storage))
    let start = page.position
    let writes = 80
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          var next = 0
          do {
            for try await batch in page.operations(after: start) {
              for operation in batch.operations {
                #expect(operation == .put(key: bytes("\(next % 5)"), value: bytes("\(next)")))
                next += 1
              }
              if next == writes { return }
            }
          } catch { Issue.record("at \(next): \(error)") }
        }
      }
      group.addTask {
        for number in 0..<writes {
          do {
            try await page.put("\(number)", for: "\(number % 5)", durability: .process)
            if number % 30 == 29 { try await page.compact(keep: .all) }
          } catch { Issue.record("\(error)") }
        }
      }
    }
    try await page.close()
  }

  @Test func aFailedSyncIsToldToEveryWriterOfTheGroupAndToAllBehindIt() async throws {
    let storage = SimulatedStorage(seed: 6)
    let page = try await Page.open(path: pagePath, options: quietOptions(storage))
    try await page.put("one", for: "a")
    // The first writer is held in its write while the others queue up behind it: they make one group, whose sync fails.
    let (inside, goOn) = (Turn(), Turn())
    let isArmed = Shared(true)
    storage.watch { call in
      guard call.operation == .write, isArmed.exchange(false) else { return }
      inside.come()
      _ = goOn.wait()
    }
    storage.fail(Fault(.sync, .failedSync(cache: .old), after: 1))
    let first = onThread {
      do { try page.put("one", for: "first") } catch { Issue.record("\(error)") }
    }
    #expect(inside.wait())
    let writers = 40
    let tasks = (0..<writers).map { number in Task { try await page.put("value", for: "\(number)") } }
    while page.core.queue.waiting < writers { try await Task.sleep(for: .milliseconds(1)) }
    goOn.come()
    for task in tasks {
      let error = await #expect(throws: LogStoreError.self) { try await task.value }
      #expect(error?.code == .outcomeUnknown)
    }
    #expect(first.wait())
    storage.watch(nil)
    let error = await #expect(throws: LogStoreError.self) { try await page.put("late", for: "late") }
    #expect(error?.code == .outcomeUnknown)
    #expect(try keys(storage.crash(.powerCut(.dropUnsynced))) == ["a", "first"])
    try await page.recover()
    try await page.put("more", for: "more")
    let left = try keys(storage.crash(.powerCut(.dropUnsynced)))
    #expect(Set(left) == Set(["a", "first", "more"] + (0..<writers).map { "\($0)" }))
    #expect(left.count == writers + 3)
  }

  @Test(arguments: 0..<6) func whateverGroupASyncFailsForNothingAcknowledgedIsLost(after: Int) async throws {
    let storage = SimulatedStorage(seed: 8)
    let page = try await Page.open(path: pagePath, options: quietOptions(storage))
    try await page.put("one", for: "a")
    storage.fail(Fault(.sync, .failedSync(cache: .old), after: after))
    let acknowledged = Shared<Set<String>>([])
    let codes = Shared<Set<LogStoreError.Code>>([])
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<40 {
        group.addTask {
          // More rounds than syncs that succeed: however the writers come together, one of theirs fails.
          for round in 0...(after + 1) {
            do {
              try await page.put("value", for: "\(number).\(round)")
              acknowledged.change { $0.insert("\(number).\(round)") }
            } catch { codes.change { $0.insert((error as? LogStoreError)?.code ?? .io) } }
          }
        }
      }
    }
    #expect(storage.faultHasFired)
    #expect(codes.current == [.outcomeUnknown])
    let left = try Set(keys(storage.crash(.powerCut(.dropUnsynced))))
    #expect(acknowledged.current.isSubset(of: left))
    try await page.recover()
    try await page.put("more", for: "more")
    let again = try Set(keys(storage.crash(.powerCut(.dropUnsynced))))
    #expect(again.isSuperset(of: acknowledged.current.union(["more", "a"])))
  }

  @Test func suspendingAndClosingUnderWritersRefusesThemAndLosesNothingAcknowledged() async throws {
    let storage = SimulatedStorage(seed: 7)
    let page = try await Page.open(path: pagePath, options: quietOptions(storage))
    let acknowledged = Shared<Set<String>>([])
    await withTaskGroup(of: Void.self) { group in
      for writer in 0..<6 {
        group.addTask {
          for number in 0..<60 {
            do {
              try await page.put("v", for: "\(writer).\(number)", durability: .process)
              acknowledged.change { $0.insert("\(writer).\(number)") }
            } catch {
              let code = (error as? LogStoreError)?.code
              #expect(code == .suspended || code == .closed, "\(error)")
            }
          }
        }
      }
      group.addTask {
        for _ in 0..<10 {
          do {
            try await page.suspend()
            try await page.resume()
          } catch { Issue.record("\(error)") }
        }
        do { try await page.close() } catch { Issue.record("\(error)") }
      }
    }
    let left = try Set(keys(storage.crash(.powerCut(.dropUnsynced))))
    #expect(left == acknowledged.current)
  }
}
