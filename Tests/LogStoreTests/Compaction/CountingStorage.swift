import LogStoreTesting
import Synchronization

@testable import LogStore

/// A simulated disk that counts the files which are open.
final class CountingStorage: Storage {
  let disk: SimulatedStorage
  private let count = Mutex((now: 0, most: 0))

  init(_ disk: SimulatedStorage) { self.disk = disk }

  /// The most that have been open at once since the last call.
  func takePeak() -> Int {
    count.withLock { count in
      defer { count.most = count.now }
      return count.most
    }
  }

  fileprivate func opened() {
    count.withLock {
      $0.now += 1
      $0.most = max($0.most, $0.now)
    }
  }

  fileprivate func closed() { count.withLock { $0.now -= 1 } }

  func openDirectory(_ path: String, create: Bool) throws(StorageError) -> any StorageDirectory {
    CountingDirectory(try disk.openDirectory(path, create: create), self)
  }

  func wallClock() -> Int64 { disk.wallClock() }
  func monotonicClock() -> Int64 { disk.monotonicClock() }
  func random() -> UInt64 { disk.random() }
}

private final class CountingDirectory: StorageDirectory {
  private let directory: any StorageDirectory
  private let storage: CountingStorage

  init(_ directory: any StorageDirectory, _ storage: CountingStorage) {
    self.directory = directory
    self.storage = storage
  }

  var path: String { directory.path }

  func open(_ name: String, _ access: FileAccess) throws(StorageError) -> any StorageFile {
    CountedFile(try directory.open(name, access), storage)
  }

  func list() throws(StorageError) -> [String] { try directory.list() }
  func status(of name: String) throws(StorageError) -> FileStatus? { try directory.status(of: name) }
  func rename(_ from: String, to: String) throws(StorageError) { try directory.rename(from, to: to) }
  func remove(_ name: String) throws(StorageError) { try directory.remove(name) }
  func sync(_ level: Durability) throws(StorageError) { try directory.sync(level) }
  func syncParent(_ level: Durability) throws(StorageError) { try directory.syncParent(level) }
  func lock() throws(StorageError) -> Bool { try directory.lock() }
  func unlock() { directory.unlock() }
  func isLinked() throws(StorageError) -> Bool { try directory.isLinked() }
  func isLocal() throws(StorageError) -> Bool { try directory.isLocal() }
  func availableBytes() throws(StorageError) -> UInt64 { try directory.availableBytes() }
  func close() { directory.close() }
}

private final class CountedFile: StorageFile {
  private let file: any StorageFile
  private let storage: CountingStorage
  private let isOpen = Atomic(true)

  init(_ file: any StorageFile, _ storage: CountingStorage) {
    self.file = file
    self.storage = storage
    storage.opened()
  }

  func close() {
    guard isOpen.exchange(false, ordering: .relaxed) else { return }
    storage.closed()
    file.close()
  }

  func status() throws(StorageError) -> FileStatus { try file.status() }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StorageError) -> Int {
    try unsafe file.read(into: buffer, at: offset)
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StorageError) -> Int {
    try unsafe file.write(bytes, at: offset)
  }

  func sync(_ level: Durability) throws(StorageError) { try file.sync(level) }
  func dropCache() { file.dropCache() }
  func willReadSequentially() { file.willReadSequentially() }
}
