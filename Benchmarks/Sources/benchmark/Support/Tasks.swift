import Dispatch

/// Tasks that all work at once, while the caller's thread waits.
enum Tasks {
  /// Runs `body` in so many tasks, each of which is given its number.
  static func run(_ count: Int, _ body: @escaping @Sendable (Int) async throws -> Void) throws {
    let failure = Locked<(any Error)?>(nil)
    let done = DispatchSemaphore(value: 0)
    Task.detached {
      do {
        try await withThrowingTaskGroup(of: Void.self) { group in
          for index in 0..<count { group.addTask { try await body(index) } }
          try await group.waitForAll()
        }
      } catch {
        failure.withLock { $0 = error }
      }
      done.signal()
    }
    done.wait()
    if let error = failure.withLock({ $0 }) { throw error }
  }
}
