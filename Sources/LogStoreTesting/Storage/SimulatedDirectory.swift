internal import LogStore
internal import Synchronization

/// An open directory of a simulated disk.
///
/// Invariant: a lock is held by the handle that took it, until it unlocks, closes or goes.
final class SimulatedDirectory: StorageDirectory {
  let path: String
  private let storage: SimulatedStorage
  private let node: UInt64
  private let handle: UInt64

  init(_ storage: SimulatedStorage, node: UInt64, path: String) {
    self.storage = storage
    self.node = node
    self.path = path
    handle = storage.simulation.withLock { $0.disk.newNumber() }
  }

  deinit { close() }

  private func join(_ name: String) -> String { path.hasSuffix("/") ? path + name : path + "/" + name }

  func list() throws(StorageError) -> [String] {
    try storage.perform(.list, path) { (disk) throws(StorageError) in
      (disk.directories[node]?.names.keys).map { $0.sorted() } ?? []
    }
  }

  func status(of name: String) throws(StorageError) -> FileStatus? {
    try storage.perform(.status, join(name)) { (disk) throws(StorageError) in
      disk.number(name, in: node).flatMap { disk.status(of: $0) }
    }
  }

  func open(_ name: String, _ access: FileAccess) throws(StorageError) -> any StorageFile {
    let full = join(name)
    let number: UInt64
    if case .createNew = access {
      number = try storage.perform(.create, full) { (disk) throws(StorageError) in
        try disk.createFile(name, in: node, full)
      }
    } else {
      number = try storage.perform(.open, full) { (disk) throws(StorageError) in
        guard let number = disk.number(name, in: node) else {
          throw StorageError(.open, errno: ErrorNumber.notFound, path: full)
        }
        guard disk.files[number] != nil else {
          throw StorageError(.open, errno: ErrorNumber.isDirectory, path: full)
        }
        return number
      }
    }
    return SimulatedFile(storage, number: number, path: full)
  }

  func rename(_ from: String, to: String) throws(StorageError) {
    try storage.perform(.rename, join(to)) { (disk) throws(StorageError) in
      guard let number = disk.number(from, in: node) else {
        throw StorageError(.rename, errno: ErrorNumber.notFound, path: join(to))
      }
      guard disk.number(to, in: node) == nil else {
        throw StorageError(.rename, errno: ErrorNumber.exists, path: join(to))
      }
      disk.change(node, .rename(from, to: to, number))
    }
  }

  func remove(_ name: String) throws(StorageError) {
    try storage.perform(.remove, join(name)) { (disk) throws(StorageError) in
      try disk.remove(name, in: node, join(name))
    }
  }

  func sync(_ level: Durability) throws(StorageError) {
    guard level != .process else { return }
    try sync(.syncDirectory, level) { _ in node }
  }

  func syncParent(_ level: Durability) throws(StorageError) {
    guard level != .process else { return }
    try sync(.syncParent, level) { $0.parent(of: node) }
  }

  private func sync(
    _ operation: StorageError.Operation, _ level: Durability, _ target: (Disk) -> UInt64?
  ) throws(StorageError) {
    try storage.perform(
      operation, path,
      otherwise: { (disk, effect) throws(StorageError) -> Void? in
        if case .failedSync(_, let cache) = effect, let number = target(disk) {
          disk.directories[number]?.failSync(cache)
        }
        return nil
      },
      { (disk) throws(StorageError) in if let number = target(disk) { disk.sync(directory: number, level) } })
  }

  func lock() throws(StorageError) -> Bool {
    try storage.perform(.lock, path) { (disk) throws(StorageError) in
      let holder = disk.locks[node] ?? handle
      disk.locks[node] = holder
      return holder == handle
    }
  }

  func unlock() {
    storage.simulation.withLock { if $0.disk.locks[node] == handle { $0.disk.locks[node] = nil } }
  }

  func isLinked() throws(StorageError) -> Bool {
    try storage.perform(.status, path) { (disk) throws(StorageError) in disk.isLinked(node) }
  }

  func isLocal() throws(StorageError) -> Bool {
    try storage.perform(.status, path) { (disk) throws(StorageError) in disk.isLocal }
  }

  func availableBytes() throws(StorageError) -> UInt64 {
    try storage.perform(.status, path) { (disk) throws(StorageError) in UInt64(disk.freeBytes ?? 1 << 40) }
  }

  func close() { unlock() }
}
