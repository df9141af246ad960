import LogStore
import LogStoreTesting

/// A page's directory in memory that can only be read, and so costs next to nothing to open.
///
/// Invariant: used by one thread at a time. Whoever damages a file does so while nothing is open.
final class FrozenStorage: Storage, @unchecked Sendable {
  final class File {
    var bytes: [UInt8]
    let inode: UInt64

    init(_ bytes: [UInt8], inode: UInt64) {
      self.bytes = bytes
      self.inode = inode
    }
  }

  let files: [String: File]
  private let names: [String]
  /// A file that is not there.
  var hidden: String?

  fileprivate var shown: [String] { names.filter { $0 != hidden } }
  fileprivate func file(_ name: String) -> File? { name == hidden ? nil : files[name] }

  /// The page at `pagePath`, with the inodes that its files have there.
  init(_ page: CorpusPage) throws {
    let directory = try page.disk.openDirectory(pagePath, create: false)
    var files: [String: File] = [:]
    for (name, bytes) in page.files {
      files[name] = File(bytes, inode: try directory.status(of: name)?.inode ?? 0)
    }
    self.files = files
    names = page.names
  }

  func openDirectory(_ path: String, create: Bool) throws(StorageError) -> any StorageDirectory {
    FrozenDirectory(self, path)
  }

  func wallClock() -> Int64 { 1_900_000_000_000_000_000 }
  func monotonicClock() -> Int64 { 1_000_000_000 }
  func random() -> UInt64 { 4 }
}

private final class FrozenDirectory: StorageDirectory {
  private let storage: FrozenStorage
  let path: String

  init(_ storage: FrozenStorage, _ path: String) {
    self.storage = storage
    self.path = path
  }

  private func refusal(_ operation: StorageError.Operation, _ name: String) -> StorageError {
    StorageError(operation, errno: FrozenFile.readOnly, path: full(name))
  }

  private func full(_ name: String) -> String { path + "/" + name }

  func list() throws(StorageError) -> [String] { storage.shown }

  func status(of name: String) throws(StorageError) -> FileStatus? { storage.file(name).map { FrozenFile.status($0) } }

  func open(_ name: String, _ access: FileAccess) throws(StorageError) -> any StorageFile {
    guard case .read = access else { throw refusal(.open, name) }
    guard let file = storage.file(name) else { throw StorageError(.open, errno: 2, path: full(name)) }
    return FrozenFile(file, full(name))
  }

  func rename(_ from: String, to: String) throws(StorageError) { throw refusal(.rename, to) }
  func remove(_ name: String) throws(StorageError) { throw refusal(.remove, name) }
  func sync(_ level: Durability) throws(StorageError) {}
  func syncParent(_ level: Durability) throws(StorageError) {}
  func lock() throws(StorageError) -> Bool { throw refusal(.lock, "") }
  func unlock() {}
  func isLinked() throws(StorageError) -> Bool { true }
  func isLocal() throws(StorageError) -> Bool { true }
  func availableBytes() throws(StorageError) -> UInt64 { 0 }
  func close() {}
}

/// Invariant: as of the storage that it belongs to.
private final class FrozenFile: StorageFile, @unchecked Sendable {
  private let file: FrozenStorage.File
  private let path: String

  /// EROFS.
  static let readOnly: Int32 = 30

  init(_ file: FrozenStorage.File, _ path: String) {
    self.file = file
    self.path = path
  }

  static func status(_ file: FrozenStorage.File) -> FileStatus {
    FileStatus(kind: .file, size: UInt64(file.bytes.count), inode: file.inode, modified: 0, links: 1)
  }

  func status() throws(StorageError) -> FileStatus { FrozenFile.status(file) }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StorageError) -> Int {
    guard offset < UInt64(file.bytes.count) else { return 0 }
    let start = Int(offset)
    let count = min(buffer.count, file.bytes.count - start)
    unsafe file.bytes.withUnsafeBytes { bytes in
      unsafe buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[start..<(start + count)]))
    }
    return count
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StorageError) -> Int {
    throw StorageError(.write, errno: FrozenFile.readOnly, path: path)
  }

  func sync(_ level: Durability) throws(StorageError) {}
  func dropCache() {}
  func willReadSequentially() {}
  func close() {}
}
