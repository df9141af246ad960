/// A temporary file for what the tables will be made of, once there is too much of it for memory. Chunks are written
/// one behind the other and read back by their place.
final class TableSpool {
  private let directory: any StorageDirectory
  private let name: String
  private let file: any StorageFile
  private var end: UInt64 = 0

  init(_ directory: any StorageDirectory, _ name: String) throws(StorageError) {
    self.directory = directory
    self.name = name
    file = try directory.createTemporary(name)
  }

  /// Writes all of the buffer as one chunk, empties it, and returns the chunk's place.
  func append(_ buffer: ByteBuffer) throws(StorageError) -> UInt64 {
    let place = end
    try file.write(buffer, 0..<buffer.count, at: place)
    end += UInt64(buffer.count)
    buffer.count = 0
    return place
  }

  /// Puts the chunk at `place` behind what `buffer` holds.
  func read(_ place: UInt64, count: Int, into buffer: ByteBuffer) throws(StorageError) {
    guard try file.read(appendingTo: buffer, count: count, at: place) == count else {
      throw StorageError(.read, errno: StorageError.inputOutput, path: name)
    }
  }

  /// The file's removal is for tidiness: what is left of it is ignored by readers and removed by the next writer.
  func remove() {
    file.close()
    do { try directory.remove(name) } catch {}
  }
}

extension StorageDirectory {
  /// Makes a file under a temporary name, in the place of one that a crash may have left.
  func createTemporary(_ name: String) throws(StorageError) -> any StorageFile {
    do { return try open(name, .createNew) } catch  where error.errno == StorageError.exists {}
    try remove(name)
    return try open(name, .createNew)
  }
}
