import Glibc
import LogStore
import LogStoreTesting

/// Some 64 KiB of small pages that hold every kind of file and of frame. A seed decides what stands in them.
struct Corpus: Sendable {
  let pages: [CorpusPage]
  var bytes: Int { pages.reduce(0) { $0 + $1.bytes } }

  init(seed: UInt64) throws {
    pages = try Corpus.recipes.filter { Corpus.chosen?.contains($0.name) ?? true }.map { try $0.build(seed) }
  }

  /// Where only some pages are wanted, as those that can be made with a deliberate bug in force: `CRASH_PAGES=open,closed`.
  private static let chosen: Set<String>? = unsafe getenv("CRASH_PAGES").map {
    Set(unsafe String(cString: $0).split(separator: ",").map(String.init))
  }

  static func page(_ name: String, seed: UInt64) throws -> CorpusPage? {
    try recipes.first { $0.name == name }?.build(seed)
  }

  static var names: [String] { recipes.map(\.name) }

  private struct Recipe: Sendable {
    var name: String
    var build: @Sendable (UInt64) throws -> CorpusPage

    init(_ name: String, _ body: @escaping @Sendable (CorpusBuilder) throws -> Void) {
      self.name = name
      build = { seed in
        let builder = CorpusBuilder(name, seed: seed)
        try body(builder)
        return try builder.finish()
      }
    }

    init(_ name: String, whole build: @escaping @Sendable (UInt64) throws -> CorpusPage) {
      self.name = name
      self.build = build
    }
  }

  private static let recipes: [Recipe] = [
    Recipe("header-only") { try $0.open() },
    Recipe("empty-closed") {
      try $0.open()
      try $0.close()
    },
    Recipe("open") {
      // Marks between the groups; the last group is synced, and no mark says so.
      try $0.write(batches: 5)
      try $0.write(batches: 4, durability: .process)
      try $0.sync()
      $0.wait(seconds: 2)
      try $0.write(batches: 3)
    },
    Recipe("closed") {
      try $0.write(batches: 14)
      try $0.write([.put(Array("empty".utf8), []), .clear, .put(Array("after".utf8), [1, 2, 3])])
      try $0.write(batches: 10)
      try $0.close()
    },
    Recipe("carried") {
      try $0.write(batches: 6)
      $0.kill()
      try $0.write(batches: 5)
      try $0.close()
      try $0.write(batches: 2)
      try $0.close()
    },
    Recipe("carried-open") {
      // No mark stands in the second journal: only the next one says what it was. Nor in the last, which so has only what
      // it says of its beginning.
      try $0.write(batches: 1)
      $0.kill()
      try $0.open()
      $0.kill()
      try $0.write(batches: 2)
      $0.kill()
      try $0.open()
    },
    Recipe("long-values") {
      try $0.write(batches: 2)
      $0.appendLong("long", bytes: 700, size: 150)
      try $0.write(batches: 2)
      $0.appendLong("longer", bytes: 400, size: 90)
      try $0.write(batches: 2)
      try $0.close()
    },
    Recipe("long-frames") {
      // So long that a search computes their checksums from those of stretches of the file.
      try $0.write(batches: 2)
      for key in 0..<3 { try $0.write([.put(Array("long\(key)".utf8), Array(repeating: UInt8(key), count: 530))]) }
      try $0.write(batches: 2)
      try $0.close()
    },
    Recipe("snapshot") {
      try $0.write(batches: 12, keys: 20)
      try $0.compact(keep: .none)
      try $0.write(batches: 6, keys: 20)
      try $0.close()
    },
    Recipe("snapshot-alone") {
      try $0.write(batches: 12, keys: 20)
      try $0.compact(keep: .none)
      try $0.close()
    },
    Recipe("kept") {
      try $0.write(batches: 8)
      try $0.compact(keep: .all)
      try $0.write(batches: 5)
      try $0.compact(keep: .all)
      try $0.write(batches: 5)
      try $0.close()
    },
    Recipe("kept-open") {
      try $0.write(batches: 8)
      try $0.compact(keep: .all)
      try $0.write(batches: 3)
      $0.wait(seconds: 2)
      try $0.write(batches: 3)
    },
    Recipe("deflated") {
      $0.compression = .deflate
      $0.isWordy = true
      for key in 0..<24 { try $0.write([.put(Array("k\(key)".utf8), Array(repeating: 97, count: 90))]) }
      try $0.compact(keep: .none)
      try $0.write(batches: 4)
      try $0.compact(keep: .previous)
      try $0.write(batches: 3)
      try $0.close()
    },
    Recipe("two-buckets") {
      for group in 0..<10 {
        try $0.write((0..<13).map { .put(Array("key \(group * 13 + $0)".utf8), [UInt8(group), UInt8($0)]) })
      }
      try $0.compact(keep: .none)
      try $0.write(batches: 3)
      try $0.close()
    },
    Recipe("lost") {
      try $0.write(batches: 6)
      $0.wait(seconds: 2)
      try $0.write(batches: 2)
      try $0.lose(batch: 3)
      try $0.write(batches: 5)
      try $0.close()
    },
    Recipe("lost-compacted") {
      try $0.write(batches: 6)
      $0.wait(seconds: 2)
      try $0.write(batches: 2)
      try $0.lose(batch: 2)
      try $0.write(batches: 2)
      try $0.compact(keep: .previous)
      try $0.write(batches: 4)
      try $0.close()
    },
    // The small ones again, with other contents: more frames to a byte than large ones have.
    Recipe("open-longer") {
      for _ in 0..<4 {
        try $0.write(batches: 12, durability: .process)
        try $0.sync()
        $0.wait(seconds: 2)
      }
    },
    Recipe("closed-longer") {
      try $0.write(batches: 100)
      try $0.close()
    },
    Recipe("kept-longer") {
      try $0.write(batches: 24)
      try $0.compact(keep: .all)
      try $0.write(batches: 24)
      try $0.compact(keep: .all)
      try $0.write(batches: 24)
      try $0.close()
    },
    Recipe("killed-often") {
      for _ in 0..<6 {
        try $0.write(batches: 12)
        $0.kill()
      }
      try $0.write(batches: 12)
      try $0.close()
    },
    Recipe("deflated-longer") {
      $0.compression = .deflate
      $0.isWordy = true
      try $0.write(batches: 20)
      try $0.compact(keep: .previous)
      try $0.write(batches: 20)
      try $0.close()
    },
    Recipe("application", whole: { try ApplicationPage.build(seed: $0) }),
  ]
}

/// A page of an application's own state, with a snapshot and a journal behind it.
private enum ApplicationPage {
  static func build(seed: UInt64) throws -> CorpusPage {
    let storage = SimulatedStorage(seed: seed)
    var random = SeededRandom(seed: seed)
    var history: [[TableOperation]] = []
    var page: StatePage<Chronicle>? = try StatePage(path: pagePath, options: quietOptions(storage))
    func write(_ count: Int) throws {
      for _ in 0..<count {
        let key = Array("k\(random.next() % 9)".utf8)
        let value = FrameForge.bytes(random.next(), Int(random.next() % 9))
        let batch: [TableOperation] =
          random.next() % 4 == 0 ? [.remove(key), .put([key[1]], value)] : [.put(key, value)]
        try page?.write(Chronicle.batch(batch))
        history.append(batch)
      }
    }
    try write(9)
    try page?.compact(keep: .all)
    try write(8)
    try page?.close()
    page = nil
    return try CorpusPage("application", storage.crash(.kill), isApplication: true, history: history)
  }
}
