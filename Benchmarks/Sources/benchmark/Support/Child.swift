import Glibc

/// A child process that is talked to in lines.
final class Child {
  let id: pid_t
  private var input: Int32
  private let output: Int32
  private var buffer: [UInt8] = []

  init(_ program: String, _ arguments: [String]) throws {
    var toChild: [Int32] = [0, 0]
    var fromChild: [Int32] = [0, 0]
    guard pipe(&toChild) == 0, pipe(&fromChild) == 0 else { throw Failure(errno: "pipe") }
    // Other children shall not hold them open.
    for end in toChild + fromChild { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, toChild[0], STDIN_FILENO)
    posix_spawn_file_actions_adddup2(&actions, fromChild[1], STDOUT_FILENO)
    id = try Child.spawn(program, arguments, &actions)
    close(toChild[0])
    close(fromChild[1])
    input = toChild[1]
    output = fromChild[0]
  }

  deinit {
    closeInput()
    close(output)
  }

  /// Starts a program that is found where `PATH` says.
  static func spawn(
    _ program: String, _ arguments: [String], _ actions: UnsafePointer<posix_spawn_file_actions_t>
  ) throws -> pid_t {
    let words = ([program] + arguments).map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var child: pid_t = 0
    let result = posix_spawnp(&child, program, actions, nil, words, environ)
    guard result == 0 else { throw Failure("\(program): \(String(cString: strerror(result)))") }
    return child
  }

  func write(_ line: String) throws {
    let bytes = Array((line + "\n").utf8)
    guard Glibc.write(input, bytes, bytes.count) == bytes.count else { throw Failure(errno: "a child's input") }
  }

  /// Nil where it says no more.
  func readLine() throws -> String? {
    while true {
      if let end = buffer.firstIndex(of: 0x0A) {
        defer { buffer.removeSubrange(...end) }
        return String(decoding: buffer[..<end], as: UTF8.self)
      }
      var piece = [UInt8](repeating: 0, count: 64 << 10)
      let count = read(output, &piece, piece.count)
      guard count >= 0 else { throw Failure(errno: "a child's output") }
      if count == 0 { return nil }
      buffer += piece[..<count]
    }
  }

  func closeInput() {
    if input >= 0 { close(input) }
    input = -1
  }

  /// Waits for its end; returns whether that was a good one.
  func wait() throws -> Bool { try Child.wait(id) }

  @discardableResult
  static func wait(_ id: pid_t) throws -> Bool {
    var status: Int32 = 0
    guard waitpid(id, &status, 0) == id else { throw Failure(errno: "waitpid") }
    return status == 0
  }
}
