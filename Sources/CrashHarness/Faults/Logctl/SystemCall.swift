/// A call of the system that the command's first thread made on a run that nothing disturbed. Calls of others cannot be named:
/// strace counts the calls of each thread by themselves, and which of them does what is not the same each time.
struct SystemCall: Sendable, Hashable {
  var name: String
  /// Among the thread's calls of that name, from 1.
  var number: Int

  /// Calls that touch files.
  static let names = [
    "openat", "mkdir", "mkdirat", "read", "pread64", "write", "pwrite64", "writev", "pwritev", "fsync", "fdatasync",
    "sync_file_range", "rename", "renameat", "renameat2", "unlink", "unlinkat", "getdents64", "fstat", "newfstatat",
    "statx", "statfs", "fstatfs", "flock", "close",
  ]

  /// The first thread's calls in a trace of all threads, from the first on that names the page: what was loaded before is not
  /// the command's. And how many calls others made from there on.
  static func all(in trace: String, page: String) -> (calls: [SystemCall], ofOthers: Int) {
    var counts: [String: Int] = [:]
    var (found, others): ([SystemCall], Int) = ([], 0)
    var (first, hasBegun): (Substring?, Bool) = (nil, false)
    for line in trace.split(separator: "\n") where !line.contains("resumed>") {
      // Every line begins with its thread.
      let words = line.prefix { $0 != "(" }.split(separator: " ")
      guard words.count == 2, line.contains("(") else { continue }
      first = first ?? words[0]
      let name = String(words[1])
      guard names.contains(name) else { continue }
      guard words[0] == first else {
        if hasBegun { others += 1 }
        continue
      }
      counts[name, default: 0] += 1
      if line.contains("\"\(page)") { hasBegun = true }
      if hasBegun { found.append(SystemCall(name: name, number: counts[name] ?? 0)) }
    }
    return (found, others)
  }
}

/// What is done to a call of the command.
enum Interference: String, CaseIterable, Sendable {
  case kill
  case inputOutput = "EIO"
  case noSpace = "ENOSPC"
  case refused = "EACCES"
  case interrupted = "EINTR"

  /// For strace, at the call of that number, or from it on.
  func injection(_ call: SystemCall, on: Bool) -> String {
    let what = self == .kill ? "signal=KILL" : "error=\(rawValue)"
    return "inject=\(call.name):\(what):when=\(call.number)\(on ? "+" : "")"
  }

  /// Whether it can be had from some call on for ever: whoever is interrupted for ever goes on for ever.
  var canRepeat: Bool { self != .kill && self != .interrupted }
}
