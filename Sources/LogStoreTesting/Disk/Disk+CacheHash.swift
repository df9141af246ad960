/// What tells disks apart that still have their caches.
extension Disk {
  /// Of what the cache shows, what the medium holds, and what is under way between them: what the next power cut may leave
  /// is decided by that. Only what files have grown by and did not get is left out, being garbage whatever it is.
  var cacheHash: UInt64 {
    let ranks = Ranks(self)
    var hash = ContentHash.mix(ranks[committed], 1)
    for (number, directory) in directories {
      // A sum: dictionaries have no order.
      hash &+= Disk.hash(directory.names, number << 2)
      hash &+= Disk.hash(directory.durableNames, number << 2 | 1)
      var waiting = ContentHash(number << 2 | 2)
      if let handed = directory.handed {
        waiting.add(Disk.hash(handed.names, number << 2 | 3))
        for change in handed.changes { change.add(to: &waiting, ranks) }
      }
      waiting.add(UInt64(directory.pending.count))
      for change in directory.pending { change.add(to: &waiting, ranks) }
      hash &+= waiting.value
    }
    for (number, file) in files {
      var waiting = ContentHash(FileOutcome(number, file.current).hash)
      waiting.add(FileOutcome(number, file.durable).hash)
      if let handed = file.handed {
        waiting.add(handed.medium)
        for write in handed.writes { write.add(to: &waiting, ranks) }
      }
      waiting.add(UInt64(file.pending.count))
      for write in file.pending { write.add(to: &waiting, ranks) }
      hash &+= waiting.value
    }
    return ContentHash.mix(hash, 1)
  }

  private static func hash(_ names: [String: UInt64], _ seed: UInt64) -> UInt64 {
    names.reduce(into: 0) { hash, name in
      var entry = ContentHash(seed)
      entry.add(name.key)
      entry.add(name.value)
      hash &+= entry.value
    }
  }

  /// The order of what is under way. The counts themselves tell how much was done before, which no crash shows.
  fileprivate struct Ranks {
    private var all: [UInt64]

    init(_ disk: Disk) {
      var counts: Set<UInt64> = []
      for directory in disk.directories.values {
        for change in (directory.handed?.changes ?? []) + directory.pending {
          counts.insert(change.sequence)
          if let barrier = change.barrier { counts.insert(barrier) }
        }
      }
      for file in disk.files.values {
        for write in (file.handed?.writes ?? []) + file.pending {
          counts.insert(write.sequence)
          if let barrier = write.barrier { counts.insert(barrier) }
        }
      }
      all = counts.sorted()
    }

    /// How many counts are not above one.
    subscript(count: UInt64) -> UInt64 { UInt64((all.firstIndex { $0 > count } ?? all.count)) }
  }
}

extension DiskDirectory.Change {
  fileprivate func add(to hash: inout ContentHash, _ ranks: Disk.Ranks) {
    switch kind {
    case .add(let name, let number):
      hash.add(1)
      hash.add(name)
      hash.add(number)
    case .remove(let name):
      hash.add(2)
      hash.add(name)
    case .rename(let name, let target, let number):
      hash.add(3)
      hash.add(name)
      hash.add(target)
      hash.add(number)
    }
    hash.add(ranks[sequence])
    hash.add(barrier.map { ranks[$0] } ?? 0)
  }
}

extension DiskFile.Write {
  fileprivate func add(to hash: inout ContentHash, _ ranks: Disk.Ranks) {
    hash.add(UInt64(offset))
    hash.add(bytes)
    hash.add(ranks[sequence])
    hash.add(barrier.map { ranks[$0] } ?? 0)
  }
}
