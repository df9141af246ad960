internal import CPlatform

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A directory of the file system, and the writer's lock on it.
///
/// Invariant: `descriptor` is open until `close` or `deinit`, whichever comes first; the owner calls nothing after `close`.
final class POSIXDirectory: StorageDirectory {
  let path: String
  private let descriptor: POSIXDescriptor

  init(descriptor: Int32, path: String) {
    self.path = path
    self.descriptor = POSIXDescriptor(descriptor, mayBeLocked: true)
  }

  func list() throws(StorageError) -> [String] {
    // A descriptor of its own: reading a directory moves the descriptor's place.
    let copy = unsafe openat(descriptor.value, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard copy >= 0 else { throw failure(.list) }
    guard let stream = unsafe fdopendir(copy) else {
      let error = failure(.list)
      _ = systemClose(copy)
      throw error
    }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while true {
      errno = 0
      guard let entry = unsafe readdir(stream) else {
        guard errno == 0 else { throw failure(.list) }
        return names
      }
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
        unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if name != "." && name != ".." { names.append(name) }
    }
  }

  func status(of name: String) throws(StorageError) -> FileStatus? {
    var info = stat()
    guard unsafe fstatat(descriptor.value, name, &info, AT_SYMLINK_NOFOLLOW) == 0 else {
      let code = lastError()
      if code == ENOENT { return nil }
      throw StorageError(.status, errno: code, path: path(of: name))
    }
    return FileStatus(info)
  }

  func open(_ name: String, _ access: FileAccess) throws(StorageError) -> any StorageFile {
    let flags: Int32 =
      switch access {
      case .read: O_RDONLY
      case .readWrite: O_RDWR
      case .createNew: O_RDWR | O_CREAT | O_EXCL
      }
    // Not following links and not blocking: a page's files are plain files, whatever stands in their place.
    let file = unsafe openat(descriptor.value, name, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o666)
    guard file >= 0 else { throw failure(access == .createNew ? .create : .open, name) }
    return POSIXFile(descriptor: file, path: path(of: name))
  }

  func rename(_ from: String, to: String) throws(StorageError) {
    #if os(Linux)
      if unsafe logstore_rename_noreplace(descriptor.value, from, to) == 0 { return }
      guard errno == EINVAL || errno == ENOSYS else { throw failure(.rename, to) }
    #elseif canImport(Darwin)
      if unsafe renameatx_np(descriptor.value, from, descriptor.value, to, UInt32(RENAME_EXCL)) == 0 { return }
      guard errno == ENOTSUP || errno == EINVAL else { throw failure(.rename, to) }
    #endif
    // The file system cannot refuse to replace. The writer's lock is held, so looking first is enough.
    guard try status(of: to) == nil else { throw StorageError(.rename, errno: EEXIST, path: path(of: to)) }
    guard unsafe renameat(descriptor.value, from, descriptor.value, to) == 0 else { throw failure(.rename, to) }
  }

  func remove(_ name: String) throws(StorageError) {
    guard unsafe unlinkat(descriptor.value, name, 0) == 0 else { throw failure(.remove, name) }
  }

  func sync(_ level: Durability) throws(StorageError) {
    guard level != .process else { return }
    #if canImport(Darwin)
      // The drive's cache holds the names too.
      guard fcntl(descriptor.value, level == .power ? F_FULLFSYNC : F_BARRIERFSYNC) == 0 else {
        throw failure(.syncDirectory)
      }
    #else
      guard fsync(descriptor.value) == 0 else { throw failure(.syncDirectory) }
    #endif
  }

  func syncParent(_ level: Durability) throws(StorageError) {
    guard level != .process else { return }
    let parent = unsafe openat(descriptor.value, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard parent >= 0 else { throw failure(.syncParent) }
    defer { _ = systemClose(parent) }
    #if canImport(Darwin)
      guard fcntl(parent, level == .power ? F_FULLFSYNC : F_BARRIERFSYNC) == 0 else { throw failure(.syncParent) }
    #else
      guard fsync(parent) == 0 else { throw failure(.syncParent) }
    #endif
  }

  func lock() throws(StorageError) -> Bool {
    while flock(descriptor.value, LOCK_EX | LOCK_NB) != 0 {
      let code = lastError()
      if code == EWOULDBLOCK { return false }
      guard code == EINTR else { throw StorageError(.lock, errno: code, path: path) }
    }
    return true
  }

  func unlock() { _ = flock(descriptor.value, LOCK_UN) }

  func isLinked() throws(StorageError) -> Bool {
    var info = stat()
    guard unsafe fstat(descriptor.value, &info) == 0 else { throw failure(.status) }
    return info.st_nlink > 0
  }

  func isLocal() throws(StorageError) -> Bool {
    #if canImport(Darwin)
      var info = statfs()
      guard unsafe fstatfs(descriptor.value, &info) == 0 else { throw failure(.status) }
      return info.f_flags & UInt32(MNT_LOCAL) != 0
    #else
      // NFS, SMB, SMB2, CIFS, AFS, Coda, Ceph, 9P, NCP, Lustre, GFS2, OCFS2, FhGFS/BeeGFS
      let remote: Set<UInt32> = [
        0x6969, 0x517B, 0xFE53_4D42, 0xFF53_4D42, 0x5346_414F, 0x7375_7245, 0x00C3_6400, 0x0102_1997, 0x564C,
        0x0BD0_0BD0, 0x0116_1970, 0x7461_636F, 0x1983_0326,
      ]
      return !remote.contains(logstore_file_system_type(descriptor.value))
    #endif
  }

  func availableBytes() throws(StorageError) -> UInt64 {
    var info = statvfs()
    guard unsafe fstatvfs(descriptor.value, &info) == 0 else { throw failure(.status) }
    return UInt64(info.f_bavail) &* UInt64(info.f_frsize)
  }

  func close() { descriptor.close() }

  private func failure(_ operation: StorageError.Operation, _ name: String? = nil) -> StorageError {
    let code = lastError()
    return StorageError(operation, errno: code, path: name.map(path(of:)) ?? path)
  }
}
