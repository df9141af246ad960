import Glibc
import Testing

/// The built program, run as its users run it.
enum Tool {
  /// Beside the test program.
  static let path: String = {
    var buffer = [CChar](repeating: 0, count: 4096)
    let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
    let own = String(decoding: buffer[..<max(0, count)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return own.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 } + "/logctl"
  }()

  struct Result: CustomTestStringConvertible {
    /// The exit code, or 128 and the signal's number.
    var exit: Int32
    var output: [UInt8]
    var errors: String

    var text: String { String(decoding: output, as: UTF8.self) }
    var lines: [String] { text.split(separator: "\n").map(String.init) }
    var testDescription: String { "exit \(exit), output \(text), errors \(errors)" }
  }

  static func run(
    _ arguments: String..., input: String = "", environment: [String: String] = [:]
  ) -> Result {
    run(arguments, input: Array(input.utf8), environment: environment)
  }

  static func run(_ arguments: [String], input: [UInt8] = [], environment: [String: String] = [:]) -> Result {
    command([path] + arguments, input: input, environment: environment)
  }

  /// Runs a line of shell in which `$logctl` is the program.
  static func shell(_ line: String, in directory: String) -> Result {
    command(["/bin/bash", "-c", "cd \"$0\" || exit; " + line, directory], environment: ["logctl": path])
  }

  /// Input and output go through files, so that nobody waits for anybody.
  static func command(_ words: [String], input: [UInt8] = [], environment: [String: String] = [:]) -> Result {
    let files = Scratch()
    TestFile.write(files.path + "/in", input)
    let child = ChildProcess(
      words, environment: environment, input: files.path + "/in", output: files.path + "/out",
      errors: files.path + "/err")
    let exit = child.wait()
    return Result(
      exit: exit, output: TestFile.read(files.path + "/out") ?? [],
      errors: String(decoding: TestFile.read(files.path + "/err") ?? [], as: UTF8.self))
  }
}

/// A process that was started.
struct ChildProcess {
  let id: pid_t

  /// Standard input, output and error are files, named by their paths.
  init(
    _ words: [String], environment: [String: String] = [:], input: String = "/dev/null", output: String = "/dev/null",
    errors: String = "/dev/null"
  ) {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_addopen(&actions, 0, input, O_RDONLY, 0)
    unsafe posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT, 0o666)
    unsafe posix_spawn_file_actions_addopen(&actions, 2, errors, O_WRONLY | O_CREAT, 0o666)
    // The threads that run tests block signals, and a shell may ignore some; neither is to be handed down.
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var defaults = sigset_t()
    unsafe sigemptyset(&defaults)
    unsafe sigaddset(&defaults, SIGINT)
    unsafe sigaddset(&defaults, SIGPIPE)
    unsafe posix_spawnattr_setsigdefault(&attributes, &defaults)
    var mask = sigset_t()
    unsafe sigemptyset(&mask)
    unsafe posix_spawnattr_setsigmask(&attributes, &mask)
    let setsid = 0x80  // POSIX_SPAWN_SETSID: so that a terminal becomes the process's own
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | Int32(setsid)))

    var variables = ["PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C", "SWIFT_BACKTRACE": "enable=no"]
    variables.merge(environment) { $1 }
    var argv = unsafe words.map { unsafe strdup($0) } + [nil]
    var envp = unsafe variables.map { unsafe strdup("\($0.key)=\($0.value)") } + [nil]
    defer {
      for i in unsafe argv.indices { unsafe free(argv[i]) }
      for i in unsafe envp.indices { unsafe free(envp[i]) }
    }
    var id: pid_t = 0
    let result = unsafe posix_spawn(&id, words[0], &actions, &attributes, &argv, &envp)
    precondition(result == 0, "cannot start \(words[0]): error \(result)")
    self.id = id
  }

  func interrupt() { kill(id, SIGINT) }

  /// The exit code, or 128 and the signal's number.
  func wait() -> Int32 {
    var status: Int32 = 0
    while unsafe waitpid(id, &status, 0) < 0 && errno == EINTR {}
    return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
  }
}

/// A directory of its own, removed with everything in it.
final class Scratch: Sendable {
  let path: String

  init() {
    var template = Array("/tmp/logctl-tests-XXXXXX".utf8CString)
    path = unsafe template.withUnsafeMutableBufferPointer { buffer in
      guard let made = unsafe mkdtemp(buffer.baseAddress!) else { fatalError("cannot make a directory") }
      return unsafe String(cString: made)
    }
    unsafe chmod(path, 0o755)
  }

  deinit {
    _ = ChildProcess(["/bin/rm", "-rf", path]).wait()
  }

  /// A named pipe, and its writing end; opened first, because opening the other end waits for it.
  func makePipe(_ name: String) -> (path: String, end: Int32) {
    unsafe mkfifo(self[name], 0o600)
    return (self[name], unsafe open(self[name], O_RDWR | O_CLOEXEC))
  }

  func makeDirectory(_ name: String) { unsafe mkdir(self[name], 0o755) }

  subscript(_ name: String) -> String { path + "/" + name }

  /// Everything about the files at or under `name` that a careless reader could change, as text to compare.
  func state(_ name: String) -> String {
    Tool.shell(
      "find '\(name)' -printf '%p %y %m %s %T@ %i\\n' | sort; find '\(name)' -type f -readable -exec cksum {} + | sort",
      in: path
    ).text
  }
}
