#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// The file system of this machine.
public struct FileSystemStorage: Storage {
  public init() {}

  public func openDirectory(_ path: String, create: Bool) throws(StorageError) -> any StorageDirectory {
    if create, unsafe mkdir(path, 0o777) != 0 {
      let code = lastError()
      guard code == EEXIST else { throw StorageError(.createDirectory, errno: code, path: path) }
    }
    let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw StorageError(.openDirectory, errno: lastError(), path: path) }
    return POSIXDirectory(descriptor: descriptor, path: path)
  }

  public func wallClock() -> Int64 { clock(CLOCK_REALTIME) }

  public func monotonicClock() -> Int64 {
    #if os(Linux)
      clock(CLOCK_MONOTONIC_COARSE)
    #else
      clock(CLOCK_MONOTONIC)
    #endif
  }

  public func random() -> UInt64 {
    var generator = SystemRandomNumberGenerator()
    return generator.next()
  }

  public var orderedIsDurable: Bool {
    #if canImport(Darwin)
      false
    #else
      true
    #endif
  }

  private func clock(_ id: clockid_t) -> Int64 {
    var time = timespec()
    unsafe clock_gettime(id, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}

func lastError() -> Int32 { errno }

/// The error numbers that the engine tells apart.
extension StorageError {
  static let interrupted: Int32 = EINTR
  static let notFound: Int32 = ENOENT
  static let exists: Int32 = EEXIST
  static let isDirectory: Int32 = EISDIR
  static let notDirectory: Int32 = ENOTDIR
  static let inputOutput: Int32 = EIO
  static let stale: Int32 = ESTALE

  /// Nothing is left to write into: refused, not failed.
  var isNoSpace: Bool { errno == ENOSPC || errno == EDQUOT || errno == EFBIG }
  /// The system refuses for now: permissions, a locked device, a read-only mount.
  var isUnavailable: Bool {
    errno == EACCES || errno == EPERM || errno == EROFS || errno == EMFILE || errno == ENFILE || errno == ENOMEM
      || errno == EBUSY || errno == ETXTBSY
  }
  /// The process, or the system, has as many files open as it may.
  var isOutOfDescriptors: Bool { errno == EMFILE || errno == ENFILE }
  /// The file system cannot do this at all.
  var isUnsupported: Bool { errno == ENOTSUP || errno == EINVAL || errno == ENOSYS || errno == ENOTTY }

  /// The system's words for the error.
  public var reason: String {
    guard let text = unsafe strerror(errno) else { return "error \(errno)" }
    return unsafe String(cString: text)
  }
}

extension StorageError: CustomStringConvertible {
  public var description: String { "\(operation.rawValue) \(path): \(reason)" }
}
