import Dispatch
import Glibc

@testable import CrashHarness

/// One thread waits until another has come somewhere.
final class Turn: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)

  func come() { semaphore.signal() }

  /// Whether the other came in time.
  func wait(seconds: Int = 60) -> Bool { semaphore.wait(timeout: .now() + .seconds(seconds)) == .success }
}

/// Runs `body` on a thread of its own: one of the system's, since a pool may let it wait for others that block.
func onThread(_ body: @escaping @Sendable () -> Void) -> Turn {
  let done = Turn()
  SystemThread {
    body()
    done.come()
  }.detach()
  return done
}

/// Waits until something holds that another thread brings about; false where it does not within a minute.
func eventually(_ condition: () -> Bool) -> Bool {
  for _ in 0..<60_000 {
    if condition() { return true }
    usleep(1000)
  }
  return false
}
