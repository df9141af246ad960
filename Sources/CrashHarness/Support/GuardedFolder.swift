import Glibc

/// A temporary folder in which file systems may be mounted, and children may be at work.
///
/// A process of its own watches over it: when this one is interrupted, killed or traps, everything in the folder is
/// unmounted, detached and removed all the same.
final class GuardedFolder {
  static let mode = "folder-guard"

  let path: String
  private let folder: TemporaryFolder
  private let watch: ChildProcess

  init(in parent: String) throws(SystemFault) {
    folder = TemporaryFolder(in: parent)
    path = folder.path
    watch = try ChildProcess([GuardedFolder.mode, path, "\(getpid())"])
  }

  deinit {
    Mounts.clear(path)
    watch.kill()
    watch.wait()
  }

  /// The process that watches.
  static func run(_ arguments: [String]) -> Int32 {
    guard arguments.count == 2, let parent = pid_t(arguments[1]) else { return 64 }
    ignoreSignals()
    while getppid() == parent { usleep(100_000) }
    Mounts.clear(arguments[0])
    return 0
  }

  /// Who is interrupted is the parent; its children end with it, once they have tidied up.
  static func ignoreSignals() {
    for signal in [SIGINT, SIGTERM, SIGHUP, SIGPIPE] { Glibc.signal(signal, SIG_IGN) }
  }
}
