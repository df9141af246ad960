import Glibc
import LogStore

/// What one kill has left, byte for byte, and all that is needed to judge it again.
///
/// When a process was killed cannot be repeated; what it left can. The copies are other files, so the engine takes the
/// pages for copies, which for recovery makes no difference.
struct KillCase {
  private struct Left {
    var page: KilledPage
    var files: [String: [UInt8]]
  }

  private let childSeed: UInt64
  private let left: [Left]

  /// To be made before anybody recovers the pages.
  init(childSeed: UInt64, pages: [KilledPage]) {
    self.childSeed = childSeed
    left = pages.map { Left(page: $0, files: PageJudge.files(of: $0.path)) }
  }

  /// - Returns: the folder that `init(_:)` takes.
  func save(seed: UInt64, child: Int, channel: String) throws(SystemFault) -> String {
    let folder = try Artefacts.folder("\(KillTier.name)-\(seed)-\(child)")
    TemporaryFolder.write(Array("\(childSeed) \(left.count)\n".utf8), to: folder + "/case")
    if let bytes = TemporaryFolder.read(channel) { TemporaryFolder.write(bytes, to: folder + "/channel") }
    for (place, left) in left.enumerated() {
      TemporaryFolder.write(TableBytes.encode(left.page.table, lsn: left.page.lsn), to: "\(folder)/base\(place)")
      unsafe mkdir("\(folder)/page\(place)", 0o777)
      for (name, bytes) in left.files { TemporaryFolder.write(bytes, to: "\(folder)/page\(place)/\(name)") }
    }
    return folder
  }

  /// Judges a saved case again, on copies of its files.
  static func objection(_ folder: String) throws -> String? {
    let words = TemporaryFolder.read(folder + "/case").map { String(decoding: $0, as: UTF8.self) } ?? ""
    let numbers = words.split(whereSeparator: \.isWhitespace).compactMap { UInt64($0) }
    guard numbers.count == 2 else { throw SystemFault("reading \(folder)/case") }
    let (copy, pages) = (TemporaryFolder(), Int(numbers[1]))
    TemporaryFolder.copy(folder, to: copy.path)
    let channel = try KillChannel(copy.path + "/channel")
    if let complaint = channel.complaint { return "in the child: \(complaint)" }
    for place in 0..<pages {
      let path = "\(copy.path)/page\(place)"
      TemporaryFolder.copy("\(folder)/page\(place)", to: path)
      guard let bytes = TemporaryFolder.read("\(folder)/base\(place)"), let base = TableBytes.decode(bytes) else {
        throw SystemFault("reading \(folder)/base\(place)", EINVAL)
      }
      var page = KilledPage(path, table: base.table, lsn: base.lsn)
      let issued = channel.issued(seed: numbers[0], page: place, of: pages)
      if let objection = page.objection(issued, closes: true, verifies: true) { return "page \(place): \(objection)" }
    }
    return nil
  }
}

/// A folder with a case in it that was kept.
struct KeptKill: Replayable {
  static var tier: any Tier.Type { KillTier.self }
  let description: String

  init(_ folder: String) { description = folder }
}

/// A table in a file of the harness.
enum TableBytes {
  static func encode(_ table: OrderedTable, lsn: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    func add(_ number: UInt64) { for shift in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * shift))) } }
    add(lsn)
    for record in table.records {
      for part in [record.key, record.value] {
        add(UInt64(part.count))
        bytes += part
      }
    }
    return bytes
  }

  /// Nil where the bytes are no table.
  static func decode(_ bytes: [UInt8]) -> (table: OrderedTable, lsn: UInt64)? {
    var place = 0
    func number() -> UInt64? {
      guard bytes.count - place >= 8 else { return nil }
      defer { place += 8 }
      return FramePlace.integer(bytes, place, 8)
    }
    func part() -> [UInt8]? {
      guard let count = number(), count <= UInt64(bytes.count - place) else { return nil }
      defer { place += Int(count) }
      return Array(bytes[place..<(place + Int(count))])
    }
    guard let lsn = number() else { return nil }
    var records: [Record] = []
    while place < bytes.count {
      guard let key = part(), let value = part() else { return nil }
      records.append(Record(key: key, value: value))
    }
    return (OrderedTable(records), lsn)
  }
}
