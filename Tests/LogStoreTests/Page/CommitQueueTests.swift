import Dispatch
import Synchronization
import Testing

@testable import LogStore

/// Who is committed with whom. A commit takes as long as the test wants, and a group waits for others for a minute.
@Suite(.timeLimit(.minutes(10))) struct CommitQueueTests {
  /// A queue whose commits are held up, one after the other, until the test lets them end.
  private final class Medium: Sendable {
    let queue = CommitQueue(gathering: Gathering(share: 1e7, longest: 60_000_000_000))
    let goOn = DispatchSemaphore(value: 0)
    private let groups = Mutex<[[String]]>([])

    init() {
      queue.attach { [self] requests in
        groups.withLock { $0.append(requests.map(Medium.name)) }
        goOn.wait()
        for request in requests { request.resolve(.success(Position(salt: 1, lsn: 1))) }
        return requests.count
      }
    }

    /// The batches of each group, sorted by name.
    var written: [[String]] { groups.withLock { $0.map { $0.sorted() } } }

    static func name(_ request: CommitRequest) -> String { "\(request.expecting?.lsn ?? 0)" }

    func write(_ number: UInt64) -> Task<CommitRequest.Answer, Never> {
      Task { await queue.answer(CommitRequest(WriteBatch(), .power, Position(salt: 0, lsn: number))) }
    }

    /// Writes a batch, and returns once it waits behind what is being written.
    func writeBehind(_ number: UInt64) async -> Task<CommitRequest.Answer, Never> {
      let before = queue.waiting
      let task = write(number)
      await until { queue.waiting > before }
      return task
    }

    /// Returns once so many groups have begun.
    func begins(_ count: Int) async { await until { groups.withLock { $0.count } >= count } }

    /// No thread of the pool is blocked meanwhile: the tasks that are waited for need them.
    private func until(_ condition: () -> Bool) async {
      while !condition() { try? await Task.sleep(for: .microseconds(200)) }
    }

    /// Takes the baton for `body`.
    func claim(_ body: @escaping @Sendable () -> Void) async {
      await withCheckedContinuation { continuation in
        DispatchQueue.global().async { [self] in
          queue.withBaton(body)
          continuation.resume()
        }
      }
    }

    /// Lets 1 be written alone, and then 2, which came meanwhile, together with the next. Two are waited for from then on.
    func writeThree() async -> [CommitRequest.Answer] {
      let first = write(1)
      await begins(1)
      var others = [await writeBehind(2)]
      goOn.signal()
      _ = await first.value
      others.append(write(3))
      await begins(2)
      goOn.signal()
      return [await first.value, await others[0].value, await others[1].value]
    }
  }

  @Test func aGroupWaitsUntilAsManyHaveComeAsTheLastTime() async {
    let medium = Medium()
    for answer in await medium.writeThree() { #expect(throws: Never.self) { try answer.get() } }
    let fourth = await medium.writeBehind(4)
    #expect(medium.written.count == 2)
    let fifth = medium.write(5)
    await medium.begins(3)
    medium.goOn.signal()
    _ = (await fourth.value, await fifth.value)
    #expect(medium.written == [["1"], ["2", "3"], ["4", "5"]])
    await medium.claim {}
  }

  @Test func whoeverClaimsTheBatonEndsTheWaitAndComesFirst() async {
    let medium = Medium()
    _ = await medium.writeThree()
    let fourth = await medium.writeBehind(4)
    await medium.claim { #expect(medium.written.count == 2) }
    await medium.begins(3)
    medium.goOn.signal()
    _ = await fourth.value
    #expect(medium.written == [["1"], ["2", "3"], ["4"]])
    await medium.claim {}
  }

  @Test func aBatchThatIsWithdrawnIsNoLongerWaitedFor() async {
    let medium = Medium()
    _ = await medium.writeThree()
    let fourth = await medium.writeBehind(4)
    fourth.cancel()
    await #expect(throws: LogStoreError.self) { try await fourth.value.get() }
    let fifth = medium.write(5)
    await medium.begins(3)
    medium.goOn.signal()
    await #expect(throws: Never.self) { try await fifth.value.get() }
    #expect(medium.written == [["1"], ["2", "3"], ["5"]])
    await medium.claim {}
  }

  @Test func aTaskThatWasCancelledBeforeItWritesIsRefused() async {
    let medium = Medium()
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      return await medium.queue.answer(CommitRequest(WriteBatch(), .power, nil))
    }
    task.cancel()
    let error = await #expect(throws: LogStoreError.self) { try await task.value.get() }
    #expect(error?.code == .cancelled)
    #expect(medium.written.isEmpty)
  }

  @Test func aBatchThatIsBeingWrittenCannotBeWithdrawn() async {
    let medium = Medium()
    let task = medium.write(1)
    await medium.begins(1)
    task.cancel()
    medium.goOn.signal()
    await #expect(throws: Never.self) { try await task.value.get() }
  }

  /// It is let go of without a lock where nobody waits; whoever begins to wait meanwhile is seen all the same.
  @Test func ofManyWhoTakeTheBatonEachHasItAloneAndNobodyIsOverlooked() async {
    final class Count: @unchecked Sendable {
      /// Touched by the holder of the baton only.
      var value = 0
    }
    let (queue, count, rounds) = (CommitQueue(), Count(), 2000)
    queue.attach { requests in
      count.value += requests.count
      for request in requests { request.resolve(.success(Position(salt: 1, lsn: 1))) }
      return requests.count
    }
    await withTaskGroup(of: Void.self) { group in
      for kind in 0..<6 {
        group.addTask {
          await withCheckedContinuation { continuation in
            DispatchQueue(label: "\(kind)").async {
              for _ in 0..<rounds {
                switch kind {
                case 0, 1: queue.withBaton { count.value += 1 }
                case 2, 3:
                  while !queue.tryClaim() {}
                  count.value += 1
                  queue.release()
                default: _ = queue.answer(CommitRequest(WriteBatch(), .process, nil))
                }
              }
              continuation.resume()
            }
          }
        }
      }
    }
    #expect(queue.withBaton { count.value } == 6 * rounds)
  }
}
