@testable import LogStore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A folder of the file system that goes, with its files, when it is no longer used.
final class TemporaryFolder {
  let path: String

  init() throws {
    path = "/tmp/logstore-snapshot-\(UInt64.random(in: 0 ... .max))"
    try FileSystemStorage().openDirectory(path, create: true).close()
  }

  deinit {
    do {
      let directory = try FileSystemStorage().openDirectory(path, create: false)
      for name in try directory.list() { try directory.remove(name) }
      directory.close()
    } catch {}
    unsafe rmdir(path)
  }
}
