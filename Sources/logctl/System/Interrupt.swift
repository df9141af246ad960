internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// The user's wish to stop, as Ctrl-C expresses it.
enum Interrupt {
  private static let flag = Atomic<Bool>(false)

  static var isRequested: Bool { flag.load(ordering: .relaxed) }

  /// From now on the first SIGINT asks for an orderly end; a second one ends the process at once.
  static func install() {
    // Touched here, so that the handler finds the flag initialized.
    flag.store(false, ordering: .relaxed)
    var action = sigaction()
    #if canImport(Darwin)
      unsafe action.__sigaction_u.__sa_handler = { _ in Interrupt.flag.store(true, ordering: .relaxed) }
    #else
      unsafe action.__sigaction_handler.sa_handler = { _ in Interrupt.flag.store(true, ordering: .relaxed) }
    #endif
    // No SA_RESTART: a read that waits for input must return.
    action.sa_flags = Int32(truncatingIfNeeded: SA_RESETHAND)
    unsafe sigaction(SIGINT, &action, nil)
    // A closed pipe is an error of `write`, not the end of the process in the middle of its work.
    signal(SIGPIPE, SIG_IGN)
    // So is the limit on the size of a file.
    signal(SIGXFSZ, SIG_IGN)
  }

  /// Ends the process as a closed pipe ends any filter.
  static func dieOfClosedPipe() -> Never {
    signal(SIGPIPE, SIG_DFL)
    raise(SIGPIPE)
    exit(1)
  }
}
