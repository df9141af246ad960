internal import Dispatch
internal import Synchronization

/// A batch that waits to be written, and somebody who waits for what becomes of it.
///
/// Invariant behind the unchecked conformance: `waiter` is set before the request is queued, and belongs from then on to the
/// holder of the baton who has taken the request from the queue, or to whoever has withdrawn it.
final class CommitRequest: @unchecked Sendable {
  typealias Answer = Result<Position, LogStoreError>

  enum Waiter {
    case thread(DispatchSemaphore)
    case task(CheckedContinuation<Answer, Never>)
  }

  let batch: WriteBatch
  let durability: Durability
  let expecting: Position?
  var waiter: Waiter?
  /// Under the queue's lock: whether it has been queued, and whether it was taken back.
  var isQueued = false
  var isWithdrawn = false
  private let given = Mutex<Answer?>(nil)

  init(_ batch: WriteBatch, _ durability: Durability, _ expecting: Position?) {
    self.batch = batch
    self.durability = durability
    self.expecting = expecting
  }

  /// What became of the batch; that it was withdrawn, where nobody has said anything else.
  var answer: Answer {
    given.withLock { $0 } ?? .failure(LogStoreError(.cancelled, "the task was cancelled before its batch was written"))
  }

  /// Says what became of it; later answers do nothing. Whoever waits is not yet woken.
  func resolve(_ answer: Answer) { given.withLock { if $0 == nil { $0 = answer } } }

  /// Hands the answer over to whoever waits, once.
  func wake() {
    guard let waiter else { return }
    self.waiter = nil
    switch waiter {
    case .thread(let turn): turn.signal()
    case .task(let continuation): continuation.resume(returning: answer)
    }
  }
}
