import Glibc

/// A file of expected output beside the tests.
///
/// Run the tests with `UPDATE_GOLDEN=1` to write the files anew, and read the difference before committing it.
enum GoldenFile {
  static func expected(_ name: String, current: String, file: String = #filePath) -> String? {
    let path = file.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 } + "/Golden/" + name
    if unsafe getenv("UPDATE_GOLDEN") != nil { TestFile.write(path, Array(current.utf8)) }
    return TestFile.read(path).map { String(decoding: $0, as: UTF8.self) }
  }
}

/// Whole files, without Foundation.
enum TestFile {
  static func read(_ path: String) -> [UInt8]? {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    return readAll(file)
  }

  static func readAll(_ file: Int32) -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe Glibc.read(file, &chunk, chunk.count)
      if count > 0 {
        bytes += chunk[..<count]
      } else if count == 0 || errno != EINTR {
        return bytes
      }
    }
  }

  static func write(_ path: String, _ bytes: [UInt8]) {
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    precondition(file >= 0, "cannot write \(path)")
    defer { close(file) }
    var written = 0
    while written < bytes.count {
      let count = unsafe bytes.withUnsafeBytes {
        unsafe Glibc.write(file, $0.baseAddress! + written, $0.count - written)
      }
      precondition(count > 0)
      written += count
    }
  }
}
