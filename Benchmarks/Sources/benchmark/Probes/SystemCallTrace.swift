import CProbe
import Glibc

/// Counts this process's system calls by having strace write them down.
///
/// The process marks in the trace where the work begins and ends, so that what starting and ending the trace takes does
/// not count.
enum SystemCallTrace {
  /// Nil where there is no strace, or where it may not trace.
  static func count(_ work: () throws -> Void) throws -> Int? {
    let trace = "/tmp/logstore-benchmark.\(getpid()).trace"
    defer { unlink(trace) }
    probe_allow_tracing()
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    let arguments = ["-f", "-q", "-s", "0", "-o", trace, "-p", String(getpid())]
    guard let tracer = try? Child.spawn("strace", arguments, &actions) else { return nil }
    guard try waitUntilTraced(by: tracer) else { return nil }
    do {
      access(begin, F_OK)
      try work()
      access(end, F_OK)
    } catch {
      try stop(tracer)
      throw error
    }
    try stop(tracer)
    return try calls(in: trace)
  }

  private static let begin = "/logstore-benchmark-begin"
  private static let end = "/logstore-benchmark-end"

  /// Whether the tracer has got hold of all threads; false where it gave up.
  private static func waitUntilTraced(by tracer: pid_t) throws -> Bool {
    while true {
      let isTraced = try Scratch.names("/proc/self/task").allSatisfy { thread in
        // A thread that has just ended has no status.
        (try? PlainFile.text("/proc/self/task/\(thread)/status"))?.contains("TracerPid:\t\(tracer)\n") ?? true
      }
      if isTraced { return true }
      var status: Int32 = 0
      if waitpid(tracer, &status, WNOHANG) == tracer { return false }
      usleep(1000)
    }
  }

  private static func stop(_ tracer: pid_t) throws {
    kill(tracer, SIGINT)
    try Child.wait(tracer)
  }

  /// Lines between the marks that begin a call.
  private static func calls(in trace: String) throws -> Int {
    var count = 0
    var isInside = false
    for line in try PlainFile.text(trace).utf8.split(separator: 0x0A) {
      let text = Substring(line)
      if text.contains(end) { return count }
      if isInside, !text.contains(" resumed>"), !text.contains("--- "), !text.contains("+++ ") { count += 1 }
      if text.contains(begin) { isInside = true }
    }
    throw Failure("\(trace) has no end")
  }
}
