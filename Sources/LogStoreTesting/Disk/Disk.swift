internal import LogStore

/// Files and directories by number, as the cache shows them and as the medium holds them.
struct Disk {
  var files: [UInt64: DiskFile] = [:]
  var directories: [UInt64: DiskDirectory] = [root: DiskDirectory()]
  /// Which handle holds the lock of a directory.
  var locks: [UInt64: UInt64] = [:]
  /// Bytes of removed files: what a new file may show in its place after a crash.
  var removed: [[UInt8]] = []
  /// Bytes that can still be written; nil: no end.
  var freeBytes: Int?
  var isLocal = true
  /// Nanoseconds since 1970.
  var now: Int64 = 0
  private(set) var lastNumber = root
  /// Counts what changes the disk: names, writes, syncs.
  private(set) var sequence: UInt64 = 0
  /// The count at the last sync that was one: what a journaling file system has committed with it.
  private(set) var committed: UInt64 = 0
  private var driveHasCache = false

  static let root: UInt64 = 1
  private static let keptRemoved = 6

  mutating func newNumber() -> UInt64 {
    lastNumber += 1
    return lastNumber
  }

  // MARK: Paths

  func directory(at path: String) throws(StorageError) -> UInt64 {
    var place = [Disk.root]
    for part in path.split(separator: "/") where part != "." {
      if part == ".." {
        if place.count > 1 { place.removeLast() }
        continue
      }
      guard let next = directories[place[place.count - 1]]?.names[String(part)] else {
        throw StorageError(.openDirectory, errno: ErrorNumber.notFound, path: path)
      }
      guard directories[next] != nil else {
        throw StorageError(.openDirectory, errno: ErrorNumber.notDirectory, path: path)
      }
      place.append(next)
    }
    return place[place.count - 1]
  }

  /// The directory that a path's last component is in, and that component.
  func parent(of path: String) throws(StorageError) -> (directory: UInt64, name: String) {
    let parts = path.split(separator: "/")
    guard let name = parts.last else { throw StorageError(.open, errno: ErrorNumber.exists, path: path) }
    return (try directory(at: "/" + parts.dropLast().joined(separator: "/")), String(name))
  }

  mutating func createDirectory(_ path: String) throws(StorageError) {
    do throws(StorageError) {
      // Mostly it is there.
      _ = try directory(at: path)
      return
    } catch {}
    let (parent, name): (UInt64, String)
    do {
      (parent, name) = try self.parent(of: path)
    } catch {
      throw StorageError(.createDirectory, errno: error.errno, path: path)
    }
    guard directories[parent]?.names[name] == nil else { return }
    let number = newNumber()
    directories[number] = DiskDirectory()
    change(parent, .add(name, number))
  }

  mutating func change(_ directory: UInt64, _ kind: DiskDirectory.Kind) {
    sequence += 1
    directories[directory]?.change(kind, sequence)
  }

  // MARK: Syncing

  mutating func sync(file number: UInt64, _ level: Durability) {
    let hadPending = files[number]?.pending.isEmpty == false
    sequence += 1
    if level == .power {
      files[number]?.sync()
      flushDrive()
    } else {
      files[number]?.sync(behind: sequence)
      driveHasCache = true
    }
    // Where a file has nothing to write, nothing else is committed with it.
    if hadPending { committed = sequence }
  }

  mutating func sync(directory number: UInt64, _ level: Durability) {
    sequence += 1
    if level == .power {
      directories[number]?.sync()
      flushDrive()
    } else {
      directories[number]?.sync(behind: sequence)
      driveHasCache = true
    }
    committed = sequence
  }

  /// A full sync empties the drive's cache, whoever has filled it.
  mutating func flushDrive() {
    guard driveHasCache else { return }
    for number in files.keys { files[number]?.flushDrive() }
    for number in directories.keys { directories[number]?.flushDrive() }
    driveHasCache = false
  }

  // MARK: Files

  func number(_ name: String, in directory: UInt64) -> UInt64? { directories[directory]?.names[name] }

  func status(of number: UInt64) -> FileStatus? {
    let links = UInt64(directories.values.reduce(0) { $0 + $1.names.values.count { $0 == number } })
    if let file = files[number] {
      return FileStatus(
        kind: file.isOther ? .other : .file, size: UInt64(file.current.count), inode: number, modified: file.modified,
        links: links)
    }
    guard directories[number] != nil else { return nil }
    return FileStatus(kind: .directory, size: 4096, inode: number, modified: 0, links: number == Disk.root ? 1 : links)
  }

  mutating func createFile(_ name: String, in directory: UInt64, _ path: String) throws(StorageError) -> UInt64 {
    guard self.number(name, in: directory) == nil else {
      throw StorageError(.create, errno: ErrorNumber.exists, path: path)
    }
    guard isLinked(directory) else { throw StorageError(.create, errno: ErrorNumber.notFound, path: path) }
    let number = newNumber()
    files[number] = DiskFile(modified: now / 1_000_000_000)
    change(directory, .add(name, number))
    return number
  }

  /// Writes what fits; an error only where nothing does.
  mutating func write(_ bytes: [UInt8], at offset: UInt64, to number: UInt64, _ path: String) throws(StorageError)
    -> Int
  {
    guard let size = files[number]?.current.count else {
      throw StorageError(.write, errno: ErrorNumber.badDescriptor, path: path)
    }
    var count = bytes.count
    if let free = freeBytes {
      let growth = max(0, Int(offset) + count - size)
      count -= max(0, growth - free)
      guard count > 0 || bytes.isEmpty else { throw StorageError(.write, errno: ErrorNumber.noSpace, path: path) }
      freeBytes = free - max(0, Int(offset) + count - size)
    }
    sequence += 1
    files[number]?.write(count == bytes.count ? bytes : Array(bytes[..<count]), at: Int(offset), sequence)
    files[number]?.modified = now / 1_000_000_000
    return count
  }

  mutating func remove(_ name: String, in directory: UInt64, _ path: String) throws(StorageError) {
    guard let number = self.number(name, in: directory) else {
      throw StorageError(.remove, errno: ErrorNumber.notFound, path: path)
    }
    guard let file = files[number] else { throw StorageError(.remove, errno: ErrorNumber.isDirectory, path: path) }
    change(directory, .remove(name))
    if let free = freeBytes { freeBytes = free + file.current.count }
    keepRemoved(file.current)
  }

  /// Notes what a file held that is gone: new files may show it.
  mutating func keepRemoved(_ bytes: [UInt8]) {
    guard !bytes.isEmpty else { return }
    removed.append(bytes)
    if removed.count > Disk.keptRemoved { removed.removeFirst() }
  }

  func isLinked(_ directory: UInt64) -> Bool {
    directory == Disk.root || directories.values.contains { $0.names.values.contains(directory) }
  }

  /// The directory in which `directory` has its name.
  func parent(of directory: UInt64) -> UInt64? {
    directories.first { $0.value.names.values.contains(directory) }?.key
  }
}

/// The system's error numbers that the disk itself answers with.
enum ErrorNumber {
  static let notFound: Int32 = 2
  static let badDescriptor: Int32 = 9
  static let exists: Int32 = 17
  static let notDirectory: Int32 = 20
  static let isDirectory: Int32 = 21
  static let noSpace: Int32 = 28
}
