/// A call of the system that the command made on a run that nothing disturbed.
struct SystemCall: Sendable, Hashable {
  var name: String
  /// Among the calls of that name, from 1.
  var number: Int

  /// Calls that touch files.
  static let names = [
    "openat", "mkdir", "mkdirat", "read", "pread64", "write", "pwrite64", "writev", "pwritev", "fsync", "fdatasync",
    "rename", "renameat", "renameat2", "unlink", "unlinkat", "getdents64", "fstat", "newfstatat", "statx", "statfs",
    "fstatfs", "flock", "close",
  ]

  /// The calls in a trace, from the first on that names the page: what was loaded before is not the command's.
  static func all(in trace: String, page: String) -> [SystemCall] {
    var counts: [String: Int] = [:]
    var found: [SystemCall] = []
    var hasBegun = false
    for line in trace.split(separator: "\n") where !line.contains("resumed>") {
      guard let open = line.firstIndex(of: "("), let name = line[..<open].split(separator: " ").last.map(String.init),
        names.contains(name)
      else { continue }
      counts[name, default: 0] += 1
      if line.contains("\"\(page)") { hasBegun = true }
      if hasBegun { found.append(SystemCall(name: name, number: counts[name] ?? 0)) }
    }
    return found
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
