import Synchronization

@testable import LogStore

/// A directory in memory whose calls can be made to fail.
final class MemoryDirectory: StorageDirectory {
  let path = "/memory"
  let faults = FaultPlan()
  private let files = Mutex<[String: MemoryFile]>([:])

  var names: [String] { files.withLock { $0.keys.sorted() } }

  func bytes(_ name: String) -> [UInt8] { files.withLock { $0[name]?.contents ?? [] } }

  func put(_ name: String, _ bytes: [UInt8]) { files.withLock { $0[name] = MemoryFile(name, bytes, faults) } }

  func list() throws(StorageError) -> [String] { names }

  func status(of name: String) throws(StorageError) -> FileStatus? { try files.withLock { $0[name] }?.status() }

  func open(_ name: String, _ access: FileAccess) throws(StorageError) -> any StorageFile {
    try faults.pass(access == .createNew ? .create : .open, name)
    return try files.withLock { (files) throws(StorageError) in
      switch (access, files[name]) {
      case (.createNew, .some): throw StorageError(.create, errno: StorageError.exists, path: name)
      case (.createNew, nil):
        let file = MemoryFile(name, [], faults)
        files[name] = file
        return file
      case (_, .some(let file)): return file
      case (_, nil): throw StorageError(.open, errno: StorageError.notFound, path: name)
      }
    }
  }

  func rename(_ from: String, to: String) throws(StorageError) {
    files.withLock { $0[to] = $0.removeValue(forKey: from) }
  }

  func remove(_ name: String) throws(StorageError) {
    let file = files.withLock { $0.removeValue(forKey: name) }
    if file == nil { throw StorageError(.remove, errno: StorageError.notFound, path: name) }
  }

  func sync(_ level: Durability) throws(StorageError) {}
  func syncParent(_ level: Durability) throws(StorageError) {}
  func lock() throws(StorageError) -> Bool { true }
  func unlock() {}
  func isLinked() throws(StorageError) -> Bool { true }
  func isLocal() throws(StorageError) -> Bool { true }
  func availableBytes() throws(StorageError) -> UInt64 { .max }
  func close() {}
}

final class MemoryFile: StorageFile {
  private let name: String
  private let bytes: Mutex<[UInt8]>
  private let faults: FaultPlan

  init(_ name: String, _ bytes: [UInt8], _ faults: FaultPlan = FaultPlan()) {
    self.name = name
    self.bytes = Mutex(bytes)
    self.faults = faults
  }

  var contents: [UInt8] { bytes.withLock { $0 } }

  func status() throws(StorageError) -> FileStatus {
    try faults.pass(.status, name)
    return FileStatus(kind: .file, size: UInt64(contents.count), inode: 1, modified: 0, links: 1)
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StorageError) -> Int {
    try faults.pass(.read, name)
    let bytes = contents
    guard offset < UInt64(bytes.count) else { return 0 }
    let piece = bytes[Int(offset)..<min(bytes.count, Int(offset) + buffer.count)]
    unsafe buffer.copyBytes(from: piece)
    return piece.count
  }

  func write(_ source: UnsafeRawBufferPointer, at offset: UInt64) throws(StorageError) -> Int {
    try faults.pass(.write, name)
    let piece = unsafe [UInt8](source)
    bytes.withLock { bytes in
      let start = Int(offset)
      if start == bytes.count {
        bytes += piece
      } else {
        if bytes.count < start + piece.count {
          bytes += [UInt8](repeating: 0, count: start + piece.count - bytes.count)
        }
        bytes.replaceSubrange(start..<start + piece.count, with: piece)
      }
    }
    return piece.count
  }

  func sync(_ level: Durability) throws(StorageError) { try faults.pass(.sync, name) }
  func dropCache() {}
  func willReadSequentially() {}
  func close() {}
}

/// Fails one call, or all from one on.
final class FaultPlan: Sendable {
  private struct State {
    var calls: [StorageError.Operation] = []
    var failing: Int?
    var stays = false
    var errno: Int32 = 0
  }

  private let state = Mutex(State())

  /// What was called so far.
  var calls: [StorageError.Operation] { state.withLock { $0.calls } }

  func fail(call: Int, errno: Int32, stays: Bool) {
    state.withLock { $0 = State(failing: call, stays: stays, errno: errno) }
  }

  func pass(_ operation: StorageError.Operation, _ name: String) throws(StorageError) {
    let errno: Int32? = state.withLock { state in
      let number = state.calls.count
      state.calls.append(operation)
      guard let failing = state.failing, number == failing || (state.stays && number > failing) else { return nil }
      return state.errno
    }
    if let errno { throw StorageError(operation, errno: errno, path: name) }
  }
}
