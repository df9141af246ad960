import Glibc

/// A folder of the real file system that goes, with all that is in it, when it is no longer used.
final class TemporaryFolder: Sendable {
  let path: String

  init(in parent: String = "/tmp") {
    path = "\(parent)/logstore-crash-\(getpid())-\(UInt64.random(in: 0 ... .max))"
    unsafe mkdir(path, 0o777)
  }

  deinit { remove(path) }

  private func remove(_ path: String) {
    for name in TemporaryFolder.names(in: path) {
      if unsafe unlink(path + "/" + name) != 0 { remove(path + "/" + name) }
    }
    unsafe rmdir(path)
  }

  /// Copies the files of one folder to another, which is made.
  static func copy(_ from: String, to: String) {
    unsafe mkdir(to, 0o777)
    for name in names(in: from) {
      if let bytes = read(from + "/" + name) { write(bytes, to: to + "/" + name) }
    }
  }

  static func names(in path: String) -> [String] {
    guard let stream = unsafe opendir(path) else { return [] }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
        unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names
  }

  static func read(_ path: String) -> [UInt8]? {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(file, $0.baseAddress, $0.count) }
      guard count > 0 else { return count == 0 ? bytes : nil }
      bytes += buffer[..<count]
    }
  }

  static func write(_ bytes: [UInt8], to path: String) {
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    defer { close(file) }
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress, $0.count) }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }
}
