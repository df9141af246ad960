internal import LogStore
internal import Synchronization

/// Looking at files and changing them behind the engine's back. None of this is a call or can fail by a fault; nor does it need
/// a sync, but for a copy that is asked to.
extension SimulatedStorage {
  /// The names in a directory, sorted; empty where there is none.
  public func names(in path: String) -> [String] {
    simulation.withLock { state in
      do throws(StorageError) {
        return try state.disk.directories[state.disk.directory(at: path)]?.names.keys.sorted() ?? []
      } catch {
        return []
      }
    }
  }

  /// What the cache shows of a file; nil where there is none.
  public func contents(of path: String) -> [UInt8]? {
    simulation.withLock { state in state.disk.number(at: path).flatMap { state.disk.files[$0]?.current } }
  }

  /// What the medium holds of a file; nil where there is none.
  public func durableContents(of path: String) -> [UInt8]? {
    simulation.withLock { state in state.disk.number(at: path).flatMap { state.disk.files[$0]?.durable } }
  }

  /// All files of a directory with what the cache shows of them.
  public func files(in path: String) -> [String: [UInt8]] {
    var found: [String: [UInt8]] = [:]
    for name in names(in: path) { found[name] = contents(of: path + "/" + name) }
    return found
  }

  /// Changes a file's bytes in place, as rot does: the file stays the same one.
  public func edit(_ path: String, _ change: (inout [UInt8]) -> Void) {
    guard var bytes = contents(of: path) else { return }
    change(&bytes)
    simulation.withLock { state in
      guard let number = state.disk.number(at: path) else { return }
      state.disk.files[number]?.replace(with: bytes)
    }
  }

  /// Puts a file there, in the place of any other: another file than the one that was.
  public func place(_ bytes: [UInt8], at path: String) {
    simulation.withLock { state in
      state.disk.enter(path) { disk, directory, name in
        let number = disk.newNumber()
        var file = DiskFile(modified: disk.now / 1_000_000_000)
        file.replace(with: bytes)
        disk.files[number] = file
        disk.directories[directory]?.settle(.add(name, number))
      }
    }
  }

  /// Makes a directory; nothing where there is one.
  public func makeDirectory(_ path: String) {
    simulation.withLock { state in
      do throws(StorageError) { try state.disk.createDirectory(path) } catch {}
      state.disk.enter(path) { _, _, _ in }
    }
  }

  /// Takes away a file, or a directory with all that is in it.
  public func delete(_ path: String) {
    for name in names(in: path) { delete(path + "/" + name) }
    simulation.withLock { state in
      state.disk.enter(path) { disk, directory, name in disk.directories[directory]?.settle(.remove(name)) }
    }
  }

  /// Gives a file or directory another name, in another directory if need be.
  public func move(_ path: String, to target: String) {
    simulation.withLock { state in
      guard let number = state.disk.number(at: path) else { return }
      state.disk.enter(path) { disk, directory, name in disk.directories[directory]?.settle(.remove(name)) }
      state.disk.enter(target) { disk, directory, name in disk.directories[directory]?.settle(.add(name, number)) }
    }
  }

  /// Copies a directory's files, as `cp -R` does: every copy is another file. Unless it is `synced`, names and bytes are only
  /// in the cache, as they are behind `cp`.
  public func copy(_ path: String, to target: String, synced: Bool = true) {
    if synced { makeDirectory(target) }
    for (name, bytes) in files(in: path).sorted(by: { $0.key < $1.key }) {
      if synced { place(bytes, at: target + "/" + name) } else { leave(bytes, name, in: target) }
    }
  }

  /// Writes a new file, and its directory where there is none, as another program would that syncs nothing.
  private func leave(_ bytes: [UInt8], _ name: String, in path: String) {
    simulation.withLock { state in
      do throws(StorageError) {
        try state.disk.createDirectory(path)
        let number = try state.disk.createFile(name, in: state.disk.directory(at: path), path)
        _ = try state.disk.write(bytes, at: 0, to: number, path)
      } catch {}
    }
  }

  /// Takes a directory's lock as another process would; false where somebody holds it.
  public func lockElsewhere(_ path: String) -> Bool {
    simulation.withLock { state in
      guard let number = state.disk.number(at: path), state.disk.locks[number] == nil else { return false }
      state.disk.locks[number] = 0
      return true
    }
  }

  /// Whether anybody holds a directory's lock.
  public func isLocked(_ path: String) -> Bool {
    simulation.withLock { state in state.disk.number(at: path).map { state.disk.locks[$0] != nil } ?? false }
  }

  /// Lets go of a lock that ``lockElsewhere(_:)`` took.
  public func unlockElsewhere(_ path: String) {
    simulation.withLock { state in
      guard let number = state.disk.number(at: path), state.disk.locks[number] == 0 else { return }
      state.disk.locks[number] = nil
    }
  }
}

extension Disk {
  /// The number of what stands at a path.
  func number(at path: String) -> UInt64? {
    do throws(StorageError) {
      if path.split(separator: "/").isEmpty { return Disk.root }
      let (directory, name) = try parent(of: path)
      return number(name, in: directory)
    } catch {
      return nil
    }
  }

  /// Runs `body` with the directory that holds a path, and makes its names durable.
  mutating func enter(_ path: String, _ body: (inout Disk, UInt64, String) -> Void) {
    do throws(StorageError) {
      let (directory, name) = try parent(of: path)
      body(&self, directory, name)
      if let names = directories[directory]?.names { directories[directory]?.settle(on: names) }
    } catch {}
  }
}
