import Dispatch
import Glibc
import LogStore
import Synchronization

/// One writer of a child: each of its acts is announced, made, and its fate told.
struct ChildWriter: Sendable {
  let channel: KillChannel
  let seed: UInt64
  let writer: Int

  /// What a write may be refused with; then nothing was written.
  private static let refusals: Set<LogStoreError.Code> = [.suspended, .conflict, .historyChanged, .cancelled]

  func write(_ acts: Range<Int>, on page: Page) {
    let script = WriterScript(seed: seed, writer: writer)
    for index in acts {
      let act = script.act(index)
      channel.begin(writer, index)
      do throws(LogStoreError) {
        channel.acknowledge(writer, index, try write(act, on: page))
      } catch {
        guard ChildWriter.refusals.contains(error.code) else {
          channel.complain("a writer: \(error)")
          _exit(3)
        }
        channel.refuse(writer, index)
        if error.code == .suspended { usleep(50) }
      }
    }
  }

  private func write(_ act: WriterScript.Act, on page: Page) throws(LogStoreError) -> Position {
    let batch = try WriteBatch(act.operations)
    let expected = act.demandsPosition ? page.position : nil
    switch act.face {
    case .blocking: return try page.write(batch, durability: act.durability, expecting: expected)
    case .asynchronous:
      return try blocking { () async throws(LogStoreError) in
        try await page.write(batch, durability: act.durability, expecting: expected)
      }
    case .cancelled:
      return try blocking(cancels: true) { () async throws(LogStoreError) in
        try await page.write(batch, durability: act.durability, expecting: expected)
      }
    }
  }
}

/// Runs a task and waits for it, on a thread that may wait.
func blocking<Value: Sendable>(
  cancels: Bool = false, _ body: @escaping @Sendable () async throws(LogStoreError) -> Value
) throws(LogStoreError) -> Value {
  let done = DispatchSemaphore(value: 0)
  let result = Mutex<Result<Value, LogStoreError>?>(nil)
  let task = Task.detached {
    let value: Result<Value, LogStoreError>
    do throws(LogStoreError) {
      value = .success(try await body())
    } catch {
      value = .failure(error)
    }
    result.withLock { $0 = value }
    done.signal()
  }
  if cancels { task.cancel() }
  done.wait()
  return try result.withLock { $0 }!.get()
}

/// How many have not come to their end.
final class Countdown: Sendable {
  private let left: Atomic<Int>
  init(_ count: Int) { left = Atomic(count) }
  func one() { left.subtract(1, ordering: .sequentiallyConsistent) }
  var isOver: Bool { left.load(ordering: .sequentiallyConsistent) <= 0 }
}
