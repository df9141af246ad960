/// One set of names that all directories together may have after a crash, and the disk that it leaves, but for the files
/// whose bytes were not synced.
final class NamesOutcome {
  /// Only what has a name is left; files that are not unsynced hold what the medium holds.
  let disk: Disk
  /// Places of the unsynced files that have a name.
  let unsynced: [Int]
  /// Of the names, and of the bytes of all other files.
  let hash: UInt64

  /// - Parameters:
  ///   - disk: as the cache shows it.
  ///   - names: what each directory holds.
  ///   - contents: hashes of the files that are not unsynced.
  init(
    _ disk: Disk, _ names: [UInt64: [String: UInt64]], unsynced files: [UnsyncedFile],
    contents: inout [UInt64: UInt64]
  ) {
    var reached: Set<UInt64> = []
    var waiting = [Disk.root]
    var hash: UInt64 = 0
    while let number = waiting.popLast() {
      guard reached.insert(number).inserted, let entries = names[number] else { continue }
      for (name, target) in entries {
        var entry = ContentHash(number)
        entry.add(name)
        entry.add(target)
        // A sum: dictionaries have no order.
        hash &+= entry.value
        waiting.append(target)
      }
    }
    var left = disk
    left.locks = [:]
    left.directories = [:]
    for (number, entries) in names where reached.contains(number) {
      var directory = DiskDirectory()
      directory.settle(on: entries)
      left.directories[number] = directory
    }
    for number in disk.files.keys.sorted() {
      guard let file = disk.files[number] else { continue }
      guard reached.contains(number) else {
        left.files[number] = nil
        left.keepRemoved(file.current)
        continue
      }
      guard !files.contains(where: { $0.number == number }) else { continue }
      left.files[number]?.settle(on: file.durable)
      let content = contents[number] ?? FileOutcome(number, file.durable).hash
      contents[number] = content
      hash &+= content
    }
    self.disk = left
    self.hash = hash
    unsynced = files.indices.filter { reached.contains(files[$0].number) }
  }
}
