internal import Synchronization

/// A storage that reads around unreadable places: they come out as zeros, which then fail their checksum, and are noted.
struct TolerantStorage: Storage {
  let storage: any Storage
  let unreadable = Unreadable()

  /// The places that could not be read, by file name.
  final class Unreadable: Sendable {
    private let found = Mutex<[String: [Range<UInt64>]]>([:])

    func note(_ name: String, _ range: Range<UInt64>) {
      found.withLock { found in
        var ranges = found[name] ?? []
        if let last = ranges.last, last.upperBound >= range.lowerBound, last.lowerBound <= range.lowerBound {
          ranges[ranges.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
        } else {
          ranges.append(range)
        }
        found[name] = ranges
      }
    }

    var findings: [Finding] {
      found.withLock { $0 }.sorted { $0.key < $1.key }.flatMap { name, ranges in
        ranges.map {
          Finding(
            .unreadable, .damage, file: name, range: $0,
            detail: "the system cannot read these bytes; they were passed over")
        }
      }
    }
  }

  func openDirectory(_ path: String, create: Bool) throws(StorageError) -> any StorageDirectory {
    TolerantDirectory(try storage.openDirectory(path, create: create), unreadable)
  }
  func wallClock() -> Int64 { storage.wallClock() }
  func monotonicClock() -> Int64 { storage.monotonicClock() }
  func random() -> UInt64 { storage.random() }
}

private final class TolerantDirectory: StorageDirectory {
  private let directory: any StorageDirectory
  private let unreadable: TolerantStorage.Unreadable

  init(_ directory: any StorageDirectory, _ unreadable: TolerantStorage.Unreadable) {
    self.directory = directory
    self.unreadable = unreadable
  }

  var path: String { directory.path }
  func list() throws(StorageError) -> [String] { try directory.list() }
  func status(of name: String) throws(StorageError) -> FileStatus? { try directory.status(of: name) }
  func open(_ name: String, _ access: FileAccess) throws(StorageError) -> any StorageFile {
    TolerantFile(try directory.open(name, access), name, unreadable)
  }
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

private final class TolerantFile: StorageFile {
  private let file: any StorageFile
  private let name: String
  private let unreadable: TolerantStorage.Unreadable

  /// What a medium loses at once.
  private static let piece = 4096

  init(_ file: any StorageFile, _ name: String, _ unreadable: TolerantStorage.Unreadable) {
    self.file = file
    self.name = name
    self.unreadable = unreadable
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StorageError) -> Int {
    do throws(StorageError) {
      return try unsafe file.read(into: buffer, at: offset)
    } catch {
      guard error.errno == StorageError.inputOutput, buffer.count > 0 else { throw error }
    }
    // Up to the end of this piece; the next call goes on behind it.
    let end = (offset / UInt64(TolerantFile.piece) + 1) * UInt64(TolerantFile.piece)
    let size = try file.status().size
    let count = min(buffer.count, Int(min(end, max(size, offset)) - offset))
    guard count > 0 else { return 0 }
    let piece = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
    do throws(StorageError) {
      return try unsafe file.read(into: piece, at: offset)
    } catch {
      guard error.errno == StorageError.inputOutput else { throw error }
      unsafe piece.initializeMemory(as: UInt8.self, repeating: 0)
      unreadable.note(name, offset..<(offset + UInt64(count)))
      return count
    }
  }

  func status() throws(StorageError) -> FileStatus { try file.status() }
  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StorageError) -> Int {
    try unsafe file.write(bytes, at: offset)
  }
  func sync(_ level: Durability) throws(StorageError) { try file.sync(level) }
  func dropCache() { file.dropCache() }
  func willReadSequentially() { file.willReadSequentially() }
  func close() { file.close() }
}
