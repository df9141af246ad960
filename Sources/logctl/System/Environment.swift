#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// What the process was given, and the clock.
enum Environment {
  /// A variable's value; nil if it is not set.
  static func variable(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    return unsafe String(cString: value)
  }

  /// The arguments without the program's name. Those that are not UTF-8 are nil: no path can be made from them.
  static var arguments: [String?] {
    let count = Int(CommandLine.argc)
    var arguments: [String?] = []
    for index in 1..<max(count, 1) {
      guard let text = unsafe CommandLine.unsafeArgv[index] else { break }
      unsafe arguments.append(String(validatingCString: text))
    }
    return arguments
  }

  /// Nanoseconds on a clock that only goes forward.
  static var now: UInt64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  /// Makes a directory; fails where the name exists.
  static func makeDirectory(_ path: String) throws(SystemError) {
    if unsafe mkdir(path, 0o777) != 0 { throw SystemError.last }
  }

  static func exit(_ code: Int32) -> Never {
    #if canImport(Darwin)
      Darwin.exit(code)
    #elseif canImport(Musl)
      Musl.exit(code)
    #else
      Glibc.exit(code)
    #endif
  }
}
