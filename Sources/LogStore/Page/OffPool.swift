internal import Dispatch
internal import Synchronization

/// Runs blocking work on a thread that is none of the cooperative pool's.
func offPool<Result: Sendable>(
  _ work: @escaping @Sendable () throws(LogStoreError) -> Result
) async throws(LogStoreError) -> Result {
  let result: Swift.Result<Result, LogStoreError> = await withCheckedContinuation { continuation in
    DispatchQueue.global().async {
      do throws(LogStoreError) {
        continuation.resume(returning: .success(try work()))
      } catch {
        continuation.resume(returning: .failure(error))
      }
    }
  }
  return try result.get()
}

/// Whether a task was cancelled, for work that runs outside of it.
final class CancellationFlag: Sendable {
  private let flag = Atomic<Bool>(false)
  var isSet: Bool { flag.load(ordering: .relaxed) }
  func set() { flag.store(true, ordering: .relaxed) }
}

func withTaskCancellation<Result: Sendable>(
  _ flag: CancellationFlag, _ work: @escaping @Sendable () throws(LogStoreError) -> Result
) async throws(LogStoreError) -> Result {
  let result: Swift.Result<Result, LogStoreError> = await withTaskCancellationHandler {
    do throws(LogStoreError) {
      return .success(try await offPool(work))
    } catch {
      return .failure(error)
    }
  } onCancel: {
    flag.set()
  }
  return try result.get()
}
