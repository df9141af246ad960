import Glibc

/// A temporary directory, removed when it is let go. All contestants get theirs on the same file system.
final class Scratch {
  let path: String
  private let isOwner: Bool

  init(in parent: String) throws {
    var template = Array("\(parent)/logstore-benchmark.XXXXXX".utf8CString)
    guard let made = mkdtemp(&template) else { throw Failure(errno: parent) }
    path = String(cString: made)
    isOwner = true
  }

  /// A directory that somebody else has made and will remove.
  init(at path: String) {
    self.path = path
    isOwner = false
  }

  deinit { if isOwner { Scratch.remove(path) } }

  /// A path in it for something of that name.
  func place(_ name: String) -> String { path + "/" + name }

  func makeDirectory(_ name: String) throws -> String {
    guard mkdir(place(name), 0o755) == 0 else { throw Failure(errno: place(name)) }
    return place(name)
  }

  /// A copy of a directory of plain files, durable before this returns, in the place of an earlier copy.
  func copyDirectory(_ source: String, _ name: String) throws -> String {
    let target = place(name)
    Scratch.remove(target)
    guard mkdir(target, 0o755) == 0 else { throw Failure(errno: target) }
    for file in try Scratch.names(source) { try PlainFile.copy(source + "/" + file, to: target + "/" + file) }
    return target
  }

  static func names(_ path: String) throws -> [String] {
    guard let stream = opendir(path) else { throw Failure(errno: path) }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names
  }

  /// Removes what is at `path`, with all that is in it. What cannot be removed stays.
  static func remove(_ path: String) {
    var info = stat()
    guard lstat(path, &info) == 0 else { return }
    guard info.st_mode & S_IFMT == S_IFDIR else {
      unlink(path)
      return
    }
    if let names = try? names(path) { for name in names { remove(path + "/" + name) } }
    rmdir(path)
  }

  /// Bytes of a file, followed where it is a link.
  static func size(_ path: String) throws -> Int {
    var info = stat()
    guard stat(path, &info) == 0 else { throw Failure(errno: path) }
    return Int(info.st_size)
  }
}

/// Makes a directory; whether it is there already does not matter.
func mkdirIfAbsent(_ path: String) -> Bool { mkdir(path, 0o755) == 0 || errno == EEXIST }
