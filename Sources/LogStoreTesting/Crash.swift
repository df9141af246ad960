/// What a crash leaves of what was not yet durable.
public enum Crash: Sendable, Hashable, CustomStringConvertible {
  /// The process ends, and the system goes on: everything that was written is still in the cache, and still not durable.
  case kill
  /// The power goes.
  case powerCut(Fate)

  /// What becomes of effects that were not synced.
  public enum Fate: Sendable, Hashable {
    case dropUnsynced
    case keepAll
    /// Anything the strict model allows, decided by a seed: for each change of a name, done or not; for each file, a prefix
    /// of its unsynced bytes, or pieces of them that arrived, are zeros, ones, random bytes, or those of a removed file.
    case seeded(UInt64)
  }

  public var description: String {
    switch self {
    case .kill: "kill"
    case .powerCut(.dropUnsynced): "power cut, nothing unsynced arrives"
    case .powerCut(.keepAll): "power cut, everything arrives"
    case .powerCut(.seeded(let seed)): "power cut, seed \(seed)"
    }
  }
}

extension Disk {
  /// The disk as the next process finds it.
  func after(_ crash: Crash) -> Disk {
    var disk = self
    disk.locks = [:]
    guard case .powerCut(let fate) = crash else { return disk }
    var random = SeededRandom(seed: 0)
    if case .seeded(let seed) = fate { random = SeededRandom(seed: seed) }
    // By number: dictionaries have no order, and the seed is to decide.
    for number in directories.keys.sorted() {
      disk.directories[number] = directories[number]?.after(fate, &random)
    }
    for number in files.keys.sorted() {
      disk.files[number] = files[number]?.after(fate, removed, &random)
    }
    disk.dropUnreachable()
    return disk
  }

  private mutating func dropUnreachable() {
    var reached: Set<UInt64> = []
    var waiting = [Disk.root]
    while let number = waiting.popLast() {
      guard reached.insert(number).inserted else { continue }
      waiting += directories[number]?.names.values.sorted() ?? []
    }
    for (number, file) in files where !reached.contains(number) {
      if !file.current.isEmpty, removed.count < 6 { removed.append(file.current) }
    }
    files = files.filter { reached.contains($0.key) }
    directories = directories.filter { reached.contains($0.key) }
  }
}

extension DiskDirectory {
  func after(_ fate: Crash.Fate, _ random: inout SeededRandom) -> DiskDirectory {
    var directory = self
    switch fate {
    case .dropUnsynced: directory.settle(on: durableNames)
    case .keepAll: directory.settle(on: names)
    case .seeded:
      var names = durableNames
      for change in pending where Bool.random(using: &random) { DiskDirectory.apply(change, to: &names) }
      directory.settle(on: names)
    }
    return directory
  }
}
