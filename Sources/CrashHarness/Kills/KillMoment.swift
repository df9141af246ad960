import Glibc
import LogStoreTesting

/// When a child is killed.
enum KillMoment {
  /// So many microseconds after it was started.
  case after(UInt64)
  /// So many microseconds after it has come to a phase, or when it has not come there in time.
  case inPhase(KillChannel.Phase, UInt64)
  /// Not before it has done all that it has to do, which it must.
  case never

  /// Microseconds in which a child has been through all that it does, mostly.
  private static let span: UInt64 = 12_000

  init(_ random: inout SeededRandom) {
    switch random.next() % 128 {
    case 0: self = .never
    case 1..<64: self = .after(random.next() % KillMoment.span)
    case 64..<88: self = .inPhase(.opening, random.next() % 1500)
    case 88..<92: self = .inPhase(.closing, random.next() % 400)
    case 92..<110: self = .inPhase(.compacting, random.next() % 400)
    // Suspended and resuming as well: the latter is over before one can see it begin.
    default: self = .inPhase(.suspending, random.next() % 800)
    }
  }

  enum Outcome {
    case killed
    /// It had ended before.
    case ended(ChildProcess.Ending)
    case hung
  }

  /// Waits for the moment, and kills the child.
  func strike(_ child: ChildProcess, _ channel: KillChannel) -> Outcome {
    var delay: UInt64 = 0
    switch self {
    case .after(let time): delay = time
    case .inPhase(let phase, let time):
      for _ in 0..<1000 where channel.phase != phase {
        if let ending = child.poll() { return .ended(ending) }
        usleep(20)
      }
      delay = time
    case .never:
      for _ in 0..<120_000 {
        if let ending = child.poll() { return .ended(ending) }
        usleep(1000)
      }
      child.kill()
      child.wait()
      return .hung
    }
    if delay > 0 { usleep(UInt32(delay)) }
    child.kill()
    let ending = child.wait()
    return ending == .killed(SIGKILL) ? .killed : .ended(ending)
  }
}
