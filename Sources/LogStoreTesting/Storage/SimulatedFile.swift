internal import LogStore
internal import Synchronization

/// An open file of a simulated disk. It stays readable when its name is gone.
final class SimulatedFile: StorageFile {
  private let storage: SimulatedStorage
  private let number: UInt64
  private let path: String

  init(_ storage: SimulatedStorage, number: UInt64, path: String) {
    self.storage = storage
    self.number = number
    self.path = path
  }

  func status() throws(StorageError) -> FileStatus {
    try storage.perform(.status, path) { (disk) throws(StorageError) in
      guard let status = disk.status(of: number) else {
        throw StorageError(.status, errno: ErrorNumber.badDescriptor, path: path)
      }
      return status
    }
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StorageError) -> Int {
    let wanted = buffer.count
    let bytes = try storage.perform(
      .read, path, offset: offset, count: wanted,
      otherwise: { (disk, effect) throws(StorageError) -> ArraySlice<UInt8>? in
        guard case .short(let count) = effect else { return nil }
        return disk.files[number]?.bytes(at: offset, count: min(max(count, 1), wanted))
      },
      { (disk) throws(StorageError) -> ArraySlice<UInt8> in
        disk.files[number]?.bytes(at: offset, count: wanted) ?? []
      })
    unsafe buffer.copyBytes(from: bytes)
    return bytes.count
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StorageError) -> Int {
    let copy = unsafe [UInt8](bytes)
    return try storage.perform(
      .write, path, offset: offset, count: copy.count,
      otherwise: { (disk, effect) throws(StorageError) -> Int? in
        switch effect {
        case .short(let count):
          return try disk.write(Array(copy[..<min(count, copy.count)]), at: offset, to: number, path)
        case .partThenError(let count, let errno):
          _ = try disk.write(Array(copy[..<min(count, copy.count)]), at: offset, to: number, path)
          throw StorageError(.write, errno: errno, path: path)
        case .error, .failedSync:
          return nil
        }
      },
      { (disk) throws(StorageError) -> Int in try disk.write(copy, at: offset, to: number, path) })
  }

  func sync(_ level: Durability) throws(StorageError) {
    guard level != .process else { return }
    try storage.perform(
      .sync, path,
      otherwise: { (disk, effect) throws(StorageError) -> Void? in
        if case .failedSync(let errno, let cache) = effect {
          disk.files[number]?.failSync(cache)
          throw StorageError(.sync, errno: errno, path: path)
        }
        return nil
      },
      { (disk) throws(StorageError) in disk.sync(file: number, level) })
    storage.simulation.withLock { $0.watchSyncReturns }?()
  }

  func dropCache() {}

  /// What is written out is no more durable for that: a crash may leave it or not, as before.
  func writeOut(_ range: Range<UInt64>, waits: Bool) throws(StorageError) -> Bool {
    try storage.perform(
      .writeOut, path, offset: range.lowerBound, count: range.count,
      otherwise: { (disk, effect) throws(StorageError) -> Bool? in
        if case .failedSync(let errno, let cache) = effect {
          disk.files[number]?.failSync(cache)
          throw StorageError(.writeOut, errno: errno, path: path)
        }
        return nil
      },
      { (disk) throws(StorageError) in true })
  }

  func willReadSequentially() {}
  func close() {}
}

extension DiskFile {
  func bytes(at offset: UInt64, count: Int) -> ArraySlice<UInt8> {
    guard offset < UInt64(current.count) else { return [] }
    let start = Int(offset)
    return current[start..<min(current.count, start + count)]
  }
}
