#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The reader in Python, kept running: it answers over pipes, and ends when they do.
///
/// Not for several threads at once.
final class PythonReader {
  private let requests: Int32
  private let answers: Int32
  private var unread: [UInt8] = []

  init() throws {
    let script = Repository.path("Tests/Conformance/reader.py")
    var input: [Int32] = [0, 0]
    var output: [Int32] = [0, 0]
    guard unsafe pipe(&input) == 0, unsafe pipe(&output) == 0 else { throw Broken("no pipes: errno \(errno)") }
    for end in input + output { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    // Whoever writes to a child that is gone is told so.
    _ = signal(SIGPIPE, SIG_IGN)
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
    #else
      var actions = unsafe posix_spawn_file_actions_t()
    #endif
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_adddup2(&actions, input[0], STDIN_FILENO)
    unsafe posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO)
    let words: [String] = ["python3", "-B", script, "serve"]
    var arguments: [UnsafeMutablePointer<CChar>?] = unsafe words.map { unsafe strdup($0) }
    unsafe arguments.append(nil)
    defer { for place in unsafe arguments.indices { unsafe free(arguments[place]) } }
    var child: pid_t = 0
    let failure = unsafe posix_spawnp(&child, "python3", &actions, nil, &arguments, environ)
    guard failure == 0 else { throw Broken("python3 does not start: errno \(failure)") }
    close(input[0])
    close(output[1])
    requests = input[1]
    answers = output[0]
  }

  deinit {
    close(requests)
    close(answers)
  }

  /// What it says of a page, under each policy in the order that ``PageVerdict/policies`` has.
  func verdicts(on page: [String: [UInt8]?]) throws -> [String] {
    var request: [UInt8] = []
    append(page.count, to: &request)
    for (name, bytes) in page {
      append(name.utf8.count, to: &request)
      request += Array(name.utf8)
      append(bytes?.count ?? Int(UInt32.max), to: &request)
      request += bytes ?? []
    }
    try send(request)
    return try PageVerdict.policies.map { _ in try line() }
  }

  private func append(_ number: Int, to request: inout [UInt8]) {
    for place in 0..<4 { request.append(UInt8(truncatingIfNeeded: number >> (8 * place))) }
  }

  private func send(_ bytes: [UInt8]) throws {
    var sent = 0
    while sent < bytes.count {
      let count = unsafe bytes.withUnsafeBytes { unsafe write(requests, $0.baseAddress! + sent, bytes.count - sent) }
      guard count > 0 || errno == EINTR else { throw Broken("the reader in Python is gone: errno \(errno)") }
      sent += max(count, 0)
    }
  }

  private func line() throws -> String {
    while true {
      if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
        defer { unread.removeFirst(end + 1) }
        return String(decoding: unread[..<end], as: UTF8.self)
      }
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(answers, $0.baseAddress, $0.count) }
      guard count > 0 || count < 0 && errno == EINTR else { throw Broken("the reader in Python has ended") }
      unread += buffer.prefix(max(count, 0))
    }
  }
}

/// The working tree that the targets were built from.
enum Repository {
  static func path(_ relative: String) -> String {
    // This file is Fuzz/Targets/PythonReader.swift in it; a relative path stands for one from the root.
    let parts = "\(#filePath)".split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
    return (parts + [Substring(relative)]).joined(separator: "/")
  }
}
