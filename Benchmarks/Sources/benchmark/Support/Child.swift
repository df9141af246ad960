import Glibc

/// Work in a process of its own, so that opening is measured as a program meets it: fresh memory, nothing cached but the
/// system's pages. The clock runs inside, around the work, so that starting the process does not count.
enum Child {
  /// What a child prints: the nanoseconds that it took.
  static func run(_ arguments: [String]) throws -> UInt64 {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw Failure(errno: "pipe") }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
    posix_spawn_file_actions_addclose(&actions, ends[0])
    let words = (["benchmark", childFlag] + arguments).map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var child: pid_t = 0
    let result = posix_spawn(&child, "/proc/self/exe", &actions, nil, words, environ)
    close(ends[1])
    guard result == 0 else { throw Failure("posix_spawn: \(String(cString: strerror(result)))") }
    var text: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 256)
    while true {
      let count = read(ends[0], &piece, piece.count)
      if count <= 0 { break }
      text += piece[..<count]
    }
    close(ends[0])
    var status: Int32 = 0
    waitpid(child, &status, 0)
    let line = String(decoding: text, as: UTF8.self).split(separator: "\n").first ?? ""
    guard status == 0, let time = UInt64(line) else { throw Failure("the child \(arguments) failed") }
    return time
  }

  static let childFlag = "--child"
}
