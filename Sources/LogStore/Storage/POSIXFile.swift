internal import CPlatform
internal import Synchronization

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A file of the file system.
final class POSIXFile: StorageFile {
  private let descriptor: POSIXDescriptor
  private let path: String

  init(descriptor: Int32, path: String) {
    self.descriptor = POSIXDescriptor(descriptor)
    self.path = path
  }

  func status() throws(StorageError) -> FileStatus {
    var info = stat()
    guard unsafe fstat(descriptor.value, &info) == 0 else { throw failure(.status) }
    return FileStatus(info)
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StorageError) -> Int {
    let count = unsafe pread(descriptor.value, buffer.baseAddress, min(buffer.count, largestCall), off_t(offset))
    guard count >= 0 else { throw failure(.read) }
    return count
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StorageError) -> Int {
    let count = unsafe pwrite(descriptor.value, bytes.baseAddress, min(bytes.count, largestCall), off_t(offset))
    guard count >= 0 else { throw failure(.write) }
    return count
  }

  func sync(_ level: Durability) throws(StorageError) {
    #if canImport(Darwin)
      switch level {
      case .process: return
      case .ordered: guard fcntl(descriptor.value, F_BARRIERFSYNC) == 0 else { throw failure(.sync) }
      case .power: guard fcntl(descriptor.value, F_FULLFSYNC) == 0 else { throw failure(.sync) }
      }
    #else
      guard level != .process else { return }
      guard fdatasync(descriptor.value) == 0 else { throw failure(.sync) }
    #endif
  }

  func dropCache() {
    #if os(Linux)
      posix_fadvise(descriptor.value, 0, 0, POSIX_FADV_DONTNEED)
    #elseif canImport(Darwin)
      _ = fcntl(descriptor.value, F_NOCACHE, 1)
    #endif
  }

  func dropCache(_ range: Range<UInt64>) {
    #if os(Linux)
      // No bytes would mean all to the file's end.
      guard !range.isEmpty else { return }
      posix_fadvise(descriptor.value, off_t(range.lowerBound), off_t(range.count), POSIX_FADV_DONTNEED)
    #elseif canImport(Darwin)
      dropCache()
    #endif
  }

  func writeOut(_ range: Range<UInt64>, waits: Bool) throws(StorageError) -> Bool {
    #if os(Linux)
      guard !range.isEmpty else { return true }
      if logstore_write_out(descriptor.value, range.lowerBound, UInt64(range.count), waits ? 1 : 0) == 0 { return true }
      let error = failure(.writeOut)
      // A system that does not know the call, or a sandbox that refuses it, has not looked for errors either.
      if error.isUnsupported || error.errno == EPERM { return false }
      throw error
    #else
      return false
    #endif
  }

  func willReadSequentially() {
    #if os(Linux)
      posix_fadvise(descriptor.value, 0, 0, POSIX_FADV_SEQUENTIAL)
    #endif
  }

  func close() { descriptor.close() }

  private func failure(_ operation: StorageError.Operation) -> StorageError {
    StorageError(operation, errno: lastError(), path: path)
  }
}

/// Below what any supported system moves in one call (Darwin refuses more than `INT_MAX`, Linux cuts near it).
private let largestCall = 1 << 30

/// A file descriptor that is closed once.
///
/// Invariant: `value` is open while `isOpen`; `close` and `deinit` are the only ones to end that, once.
final class POSIXDescriptor: Sendable {
  let value: Int32
  private let isOpen = Atomic<Bool>(true)
  /// The process that may have locked it.
  private let locker: pid_t?

  init(_ value: Int32, mayBeLocked: Bool = false) {
    self.value = value
    locker = mayBeLocked ? getpid() : nil
  }

  deinit { close() }

  // The result is ignored on purpose: what must be durable was synced before, and a close is never retried.
  func close() {
    guard isOpen.exchange(false, ordering: .acquiringAndReleasing) else { return }
    // A child that another thread is starting holds a copy until it has replaced its program, and the lock with it. One
    // that was forked to stay must not take the lock from its parent.
    if let locker, locker == getpid() { _ = flock(value, LOCK_UN) }
    _ = systemClose(value)
  }
}

func systemClose(_ descriptor: Int32) -> Int32 {
  #if canImport(Darwin)
    Darwin.close(descriptor)
  #elseif canImport(Musl)
    Musl.close(descriptor)
  #else
    Glibc.close(descriptor)
  #endif
}

extension FileStatus {
  init(_ info: stat) {
    let kind: Kind =
      switch info.st_mode & S_IFMT {
      case S_IFREG: .file
      case S_IFDIR: .directory
      default: .other
      }
    #if canImport(Darwin)
      let modified = Int64(info.st_mtimespec.tv_sec)
    #else
      let modified = Int64(info.st_mtim.tv_sec)
    #endif
    self.init(
      kind: kind, size: UInt64(info.st_size), inode: UInt64(info.st_ino), modified: modified,
      links: UInt64(info.st_nlink))
  }
}
