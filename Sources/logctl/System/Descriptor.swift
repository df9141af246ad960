#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// A file descriptor of the process, and the system calls made on it.
struct Descriptor: Sendable {
  let number: Int32

  static let input = Descriptor(number: 0)
  static let output = Descriptor(number: 1)
  static let error = Descriptor(number: 2)

  /// Fills the places of standard streams that the process was started without, so that no file of a page is opened
  /// there and takes what is printed. Using such a stream remains an error.
  static func fillStandard() {
    for number in Int32(0)...2 where fcntl(number, F_GETFD) == -1 {
      _ = unsafe open("/dev/null", number == 0 ? O_WRONLY : O_RDONLY)
    }
  }

  var isTerminal: Bool { isatty(number) == 1 }

  /// Columns of the terminal; nil if it is none.
  var columns: Int? {
    var size = winsize()
    guard unsafe ioctl(number, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }

  /// The size of a regular file less what was read of it; nil for anything else.
  var remainingBytes: UInt64? {
    var status = stat()
    guard unsafe fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return UInt64(max(0, Int(status.st_size) - max(0, lseek(number, 0, SEEK_CUR))))
  }

  /// Reads at least a byte, unless the end is reached or the user interrupts.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
    while true {
      #if canImport(Darwin)
        let count = unsafe Darwin.read(number, buffer.baseAddress, buffer.count)
      #elseif canImport(Musl)
        let count = unsafe Musl.read(number, buffer.baseAddress, buffer.count)
      #else
        let count = unsafe Glibc.read(number, buffer.baseAddress, buffer.count)
      #endif
      if count >= 0 { return count }
      let code = SystemError.last
      if code.number != EINTR { throw code }
      if Interrupt.isRequested { return 0 }
    }
  }

  /// Writes all bytes.
  func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
    var rest = unsafe bytes
    while rest.count > 0 {
      #if canImport(Darwin)
        let count = unsafe Darwin.write(number, rest.baseAddress, rest.count)
      #elseif canImport(Musl)
        let count = unsafe Musl.write(number, rest.baseAddress, rest.count)
      #else
        let count = unsafe Glibc.write(number, rest.baseAddress, rest.count)
      #endif
      if count >= 0 {
        unsafe rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        continue
      }
      let code = SystemError.last
      if code.number == EAGAIN {
        var poll = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
        _ = unsafe Self.wait(&poll)
      } else if code.number != EINTR {
        throw code
      }
    }
  }

  private static func wait(_ descriptor: UnsafeMutablePointer<pollfd>) -> Int32 { unsafe poll(descriptor, 1, -1) }
}

/// An error number of the system.
struct SystemError: Error {
  var number: Int32

  static var last: SystemError { SystemError(number: errno) }

  var isClosedPipe: Bool { number == EPIPE }

  /// The system's words for it.
  var message: String { SystemError.message(number) }

  static func message(_ number: Int32) -> String {
    guard let text = unsafe strerror(number) else { return "error \(number)" }
    return unsafe String(cString: text)
  }
}
