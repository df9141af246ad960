import Dispatch
import Glibc

/// One thread waits until another has come somewhere.
final class Turn: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)

  func come() { semaphore.signal() }

  /// Whether the other came in time.
  func wait(seconds: Int = 20) -> Bool { semaphore.wait(timeout: .now() + .seconds(seconds)) == .success }
}

/// Runs `body` on a thread of its own.
func onThread(_ body: @escaping @Sendable () -> Void) -> Turn {
  let done = Turn()
  DispatchQueue(label: "test").async {
    body()
    done.come()
  }
  return done
}
