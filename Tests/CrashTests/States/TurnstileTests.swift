import Dispatch
import Glibc
import Synchronization
import Testing

@testable import CrashHarness

/// Whether threads wait is seen exactly, so that the same choices always find the same threads ready.
@Suite struct TurnstileTests {
  private typealias Turn = DispatchSemaphore

  @Test func threadsOfWhichOneAlwaysRunsAreNeverSaidToWait() {
    let isOver = Atomic<Bool>(false)
    let (ping, pong) = (Turn(value: 0), Turn(value: 0))
    let statuses = Mutex<[ThreadStatus]>([])
    func thread(_ wait: Turn, _ signal: Turn) -> SystemThread {
      SystemThread {
        statuses.withLock { $0.append(ThreadStatus()) }
        while !isOver.load(ordering: .relaxed) {
          wait.wait()
          signal.signal()
        }
        signal.signal()
      }
    }
    let threads = [thread(ping, pong), thread(pong, ping)]
    ping.signal()
    while statuses.withLock({ $0.count }) < 2 { sched_yield() }
    let both = statuses.withLock { $0 }
    let deadline = ContinuousClock.now + .milliseconds(300)
    var wrong = 0
    while ContinuousClock.now < deadline { if ThreadStatus.areWaiting(both) { wrong += 1 } }
    isOver.store(true, ordering: .relaxed)
    for thread in threads { thread.join() }
    for status in both { status.close() }
    #expect(wrong == 0)
  }

  @Test func oneThatWaitsForItsTurnIsSaidToWait() {
    let turn = Turn(value: 0)
    let status = Mutex<ThreadStatus?>(nil)
    let thread = SystemThread {
      status.withLock { $0 = ThreadStatus() }
      turn.wait()
    }
    let deadline = ContinuousClock.now + .seconds(20)
    var isSeen = false
    while !isSeen, ContinuousClock.now < deadline {
      if let found = status.withLock({ $0 }) { isSeen = ThreadStatus.areWaiting([found]) }
    }
    turn.signal()
    thread.join()
    status.withLock { $0 }?.close()
    #expect(isSeen)
  }

  /// Such as the allocator's, which any thread of the process may hold for a moment.
  @Test func oneThatWaitsForALockOfTheLibraryIsNotSaidTo() {
    let lock = PlacedLock(0)
    let status = Mutex<ThreadStatus?>(nil)
    let (thread, wrong) = lock.withLock { _ in
      let thread = SystemThread {
        status.withLock { $0 = ThreadStatus() }
        lock.withLock { $0 += 1 }
      }
      let deadline = ContinuousClock.now + .milliseconds(100)
      var wrong = 0
      while ContinuousClock.now < deadline {
        if let found = status.withLock({ $0 }), ThreadStatus.areWaiting([found]) { wrong += 1 }
      }
      return (thread, wrong)
    }
    thread.join()
    status.withLock { $0 }?.close()
    #expect(wrong == 0)
  }

  /// Woken, it starts another, and waits again at the same place: whoever looks at the place alone takes it for one that
  /// has not moved, and chooses before the other has begun.
  @Test func oneThatAThreadStartsBeforeItWaitsAgainIsThereAtTheNextChoice() throws {
    for _ in 0..<400 {
      let turnstile = Turnstile()
      let place = Turn(value: 0)
      turnstile.start("a") {
        place.wait()
        turnstile.start("c") { place.signal() }
        place.wait()
      }
      turnstile.start("b") {
        place.signal()
        turnstile.arrive()
      }
      let choices = Mutex<[[Character]]>([])
      try turnstile.run { ready in
        choices.withLock { $0.append(ready) }
        return ready.first
      }
      #expect(choices.withLock { $0 } == [["a", "b"], ["b"], ["b", "c"], ["c"]])
    }
  }
}
