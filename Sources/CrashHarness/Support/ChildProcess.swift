import Glibc

/// A call of the system that failed.
struct SystemFault: Error, CustomStringConvertible {
  var description: String

  init(_ what: String, _ number: Int32 = errno) {
    description = "\(what): \(unsafe String(cString: strerror(number)))"
  }
}

/// A process of its own: this program in one of its child modes, or a tool of the system.
struct ChildProcess {
  enum Ending: Equatable {
    case exited(Int32)
    case killed(Int32)
  }

  let id: pid_t

  /// The program that knows the child modes: this one, or in the tests the one that was built beside them.
  static let program: String = {
    var buffer = [CChar](repeating: 0, count: 4096)
    let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
    let own = String(decoding: buffer[..<max(0, count)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    guard let name = own.split(separator: "/").last, name != "crash" else { return own }
    return own.dropLast(name.count) + "crash"
  }()

  /// - Parameters:
  ///   - arguments: what the program is told, without its own name.
  ///   - program: looked for as a shell does; nil for this program.
  ///   - isQuiet: whether what it says goes nowhere.
  init(_ arguments: [String], program: String? = nil, isQuiet: Bool = false) throws(SystemFault) {
    let path = program ?? ChildProcess.program
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    if isQuiet {
      unsafe posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
      unsafe posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    }
    var words = unsafe ([path] + arguments).map { unsafe strdup($0) } + [nil]
    defer { unsafe words.forEach { unsafe free($0) } }
    var id = pid_t()
    let result = unsafe posix_spawnp(&id, path, &actions, nil, &words, environ)
    guard result == 0 else { throw SystemFault("starting \(path)", result) }
    self.id = id
  }

  func kill(_ signal: Int32 = SIGKILL) { _ = Glibc.kill(id, signal) }

  /// Waits for the end.
  @discardableResult
  func wait() -> Ending {
    while true {
      if let ending = reap(0) { return ending }
    }
  }

  /// How it ended; nil while it runs. To be asked no more once it has said so.
  func poll() -> Ending? { reap(WNOHANG) }

  private func reap(_ options: Int32) -> Ending? {
    var status: Int32 = 0
    let found = unsafe waitpid(id, &status, options)
    if found < 0, errno != EINTR { return .exited(255) }
    guard found == id else { return nil }
    let signal = status & 0x7F
    return signal == 0 ? .exited(status >> 8 & 0xFF) : .killed(signal)
  }

  /// Runs a tool to its end. Returns whether it succeeded.
  static func succeeds(_ program: String, _ arguments: String...) -> Bool {
    // A tool that cannot be started has not succeeded: whoever asks says what is missing.
    guard let child = try? ChildProcess(arguments, program: program, isQuiet: true) else { return false }
    return child.wait() == .exited(0)
  }
}
