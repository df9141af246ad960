import Dispatch
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

  /// What is not kept in memory any more comes from the medium, where it may have rotted.
  func dropCache(_ range: Range<UInt64>) {
    if let rotten = faults.drop(range) { bytes.withLock { $0[Int(rotten)] ^= 1 } }
  }

  func writeOut(_ range: Range<UInt64>, waits: Bool) throws(StorageError) -> Bool {
    try faults.writeOut(range, waits, name)
  }

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
    var drops: [Range<UInt64>] = []
    var rot: UInt64?
    var writesOut = true
    /// What was asked to be written out, and what was waited for.
    var asked: [Range<UInt64>] = []
    var awaited: [Range<UInt64>] = []
    var failingWriteOut: (at: UInt64, errno: Int32)?
    var isSlow = false
  }

  private let state = Mutex(State())

  /// What was called so far.
  var calls: [StorageError.Operation] { state.withLock { $0.calls } }

  /// The stretches that were dropped from memory.
  var drops: [Range<UInt64>] { state.withLock { $0.drops } }

  /// Has the byte at an offset rot when it is dropped from memory.
  func rot(at offset: UInt64) { state.withLock { $0.rot = offset } }

  fileprivate func drop(_ range: Range<UInt64>) -> UInt64? {
    state.withLock { state in
      state.drops.append(range)
      guard let rot = state.rot, range.contains(rot) else { return nil }
      state.rot = nil
      return rot
    }
  }

  // MARK: Writing out

  var asked: [Range<UInt64>] { state.withLock { $0.asked } }
  var awaited: [Range<UInt64>] { state.withLock { $0.awaited } }

  /// Has the system not know how to write out a part of a file.
  func forgetHowToWriteOut() { state.withLock { $0.writesOut = false } }

  /// Has writing out a range with an offset fail; where it was interrupted, once.
  func failWriteOut(at offset: UInt64, errno: Int32) { state.withLock { $0.failingWriteOut = (offset, errno) } }

  /// Has a wait for a range take as long as on a slow disk.
  func slowDown() { state.withLock { $0.isSlow = true } }

  fileprivate func writeOut(_ range: Range<UInt64>, _ waits: Bool, _ name: String) throws(StorageError) -> Bool {
    try pass(.writeOut, name)
    if waits, state.withLock({ $0.isSlow }) {
      _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(60))
    }
    let (isDone, errno): (Bool, Int32?) = state.withLock { state in
      guard state.writesOut else { return (false, nil) }
      if waits { state.awaited.append(range) } else { state.asked.append(range) }
      guard let failing = state.failingWriteOut, waits, range.contains(failing.at) else { return (true, nil) }
      if failing.errno == StorageError.interrupted { state.failingWriteOut = nil }
      return (true, failing.errno)
    }
    if let errno { throw StorageError(.writeOut, errno: errno, path: name) }
    return isDone
  }

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
