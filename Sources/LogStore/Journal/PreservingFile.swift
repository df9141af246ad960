internal import Synchronization

/// A journal's file, and what a failed sync may have taken from it.
///
/// Once a sync has failed, the cache may show old bytes where new ones were written. What was in memory then is kept
/// here, for as long as somebody may read it, and shown in the file's place.
final class PreservingFile: StorageFile {
  private let file: any StorageFile
  /// What errors name: the file was opened under its temporary name.
  private let path: String
  private let isPreserving = Atomic<Bool>(false)
  private let preserved = Mutex<[Piece]>([])

  struct Piece: Sendable {
    var offset: UInt64
    var bytes: [UInt8]
  }

  init(_ file: any StorageFile, path: String) {
    self.file = file
    self.path = path
  }

  private func named<Result>(_ body: () throws(StorageError) -> Result) throws(StorageError) -> Result {
    do {
      return try body()
    } catch {
      throw StorageError(error.operation, errno: error.errno, path: path)
    }
  }

  func preserve(_ pieces: [Piece]) {
    preserved.withLock { $0 = pieces }
    isPreserving.store(true, ordering: .releasing)
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StorageError) -> Int {
    guard isPreserving.load(ordering: .acquiring) else {
      return try named { () throws(StorageError) in try unsafe file.read(into: buffer, at: offset) }
    }
    return try named { () throws(StorageError) in try unsafe readPreserved(into: buffer, at: offset) }
  }

  private func readPreserved(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StorageError) -> Int
  {
    let pieces = preserved.withLock { $0 }
    for piece in pieces where piece.offset <= offset && offset < piece.offset + UInt64(piece.bytes.count) {
      let start = Int(offset - piece.offset)
      let count = min(buffer.count, piece.bytes.count - start)
      unsafe buffer.copyBytes(from: piece.bytes[start..<(start + count)])
      return count
    }
    // In front of what is preserved: the file, but not beyond.
    let next = pieces.lazy.map(\.offset).filter { $0 > offset }.min() ?? .max
    let count = Int(min(UInt64(buffer.count), next - offset))
    return try unsafe file.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]), at: offset)
  }

  func status() throws(StorageError) -> FileStatus { try named { () throws(StorageError) in try file.status() } }
  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StorageError) -> Int {
    try named { () throws(StorageError) in try unsafe file.write(bytes, at: offset) }
  }
  func sync(_ level: Durability) throws(StorageError) {
    try named { () throws(StorageError) in try file.sync(level) }
  }
  func dropCache() { file.dropCache() }
  func willReadSequentially() { file.willReadSequentially() }
  func close() { file.close() }
}
