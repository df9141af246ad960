import LogStore
import LogStoreTesting

/// Writes a page for the corpus, and notes what it writes.
final class CorpusBuilder {
  let name: String
  private(set) var storage: SimulatedStorage
  private(set) var history: [[TableOperation]] = []
  private(set) var random: SeededRandom
  /// Operations that recoveries have dropped, by the number of batches in front of them.
  private(set) var lost: [Int: UInt64] = [:]
  private var page: Page?
  var compression = Compression.none
  /// Whether values are such as deflating makes shorter.
  var isWordy = false

  init(_ name: String, seed: UInt64) {
    self.name = name
    var mixed = SeededRandom(seed: seed)
    for byte in name.utf8 { mixed = SeededRandom(seed: mixed.next() ^ UInt64(byte)) }
    random = mixed
    storage = SimulatedStorage(seed: random.next())
  }

  private func open() throws -> Page {
    if let page { return page }
    var options = quietOptions(storage)
    options.compression = compression
    let opened = try Page(path: pagePath, options: options)
    page = opened
    return opened
  }

  func open(_ body: (Page) throws -> Void = { _ in }) throws { try body(open()) }

  func write(_ operations: [TableOperation], _ durability: Durability = .power) throws {
    try open().write(WriteBatch(operations), durability: durability)
    history.append(operations)
  }

  /// Some batches as a seed decides, over keys that come again.
  func write(batches count: Int, keys: Int = 8, durability: Durability = .power) throws {
    for _ in 0..<count {
      let size = random.next() % 3 == 0 ? Int.random(in: 2...3, using: &random) : 1
      try write((0..<size).map { _ in operation(keys) }, durability)
    }
  }

  private func operation(_ keys: Int) -> TableOperation {
    func key() -> [UInt8] { Array("k\(random.next() % UInt64(keys))".utf8) }
    return switch random.next() % 10 {
    case 0: .remove(key())
    case 1: .move(key(), key())
    case 2: .putBefore(key(), key(), value())
    case 3: .moveToEnd(key())
    default: .put(key(), value())
    }
  }

  func value() -> [UInt8] {
    let length = Int.random(in: 0...24, using: &random)
    if isWordy { return (0..<(length * 4)).map { UInt8(ascii: "a") + UInt8($0 % 3) } }
    return (0..<length).map { _ in UInt8(truncatingIfNeeded: random.next()) }
  }

  func wait(seconds: Int) { storage.clock.advance(by: .seconds(seconds)) }
  func sync() throws { try open().sync() }
  func compact(keep: Retention) throws { try open().compact(keep: keep) }

  func close() throws {
    try open().close()
    page = nil
  }

  /// The process ends.
  func kill() {
    page = nil
    storage = storage.crash(.kill)
  }

  /// Appends a value in frames of a few bytes, as the engine writes only values of many MiB, to the journal of a page that
  /// nobody has open; the next opening carries it.
  func appendLong(_ key: String, bytes count: Int, size: Int) {
    kill()
    let path = pagePath + "/" + (storage.names(in: pagePath).last { $0.hasSuffix(".journal") } ?? "")
    let value = (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    storage.edit(path) { bytes in
      bytes += FrameForge.longPut(
        Array(key.utf8), value, size: size, salt: FramePlace.integer(bytes, 48, 8), offset: bytes.count)
    }
    history.append([.put(Array(key.utf8), value)])
  }

  /// Damages a durable batch of the newest journal and lets a recovery drop it for good.
  func lose(batch index: Int) throws {
    kill()
    let before = try CorpusPage(name, storage, history: history, lostOperations: lost)
    guard let batch = before.anatomy.batches.first(where: { $0.index == index }) else {
      throw Disagreement("no batch \(index) in \(name)")
    }
    storage.edit(pagePath + "/" + batch.file) { $0[batch.range.lowerBound + 10] ^= 0x10 }
    lost[index, default: 0] += UInt64(history.remove(at: index).count)
    _ = try open()
  }

  func finish() throws -> CorpusPage {
    kill()
    return try CorpusPage(name, storage, history: history, lostOperations: lost)
  }
}
