import LogStore
import LogStoreTesting

@testable import LogctlCore

extension FuzzTarget {
  /// Importing what `replay` prints makes the same page, which `replay` prints in the same way.
  static func importedLines(_ bytes: [UInt8]) throws {
    let first = try imported(bytes)
    let second = try imported(first)
    try demand(first == second, "importing what replay prints makes another page")
  }

  /// What `replay` prints of a page into which the lines were imported.
  private static func imported(_ bytes: [UInt8]) throws -> [UInt8] {
    var options = PageOptions()
    options.storage = SimulatedStorage(seed: 1)
    options.compaction = .manual
    options.syncAfter = .seconds(100_000)
    let page = try Page(path: "/page", options: options)
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      guard let parsed = try parse(Array(line)) else { continue }
      let refused = try refusal { try page.write(batch(parsed), durability: .process) }
      try demand(refused?.code ?? .invalidKey == .invalidKey, "a line is refused with \(String(describing: refused))")
    }
    return try printed(page.view())
  }

  private static func batch(_ parsed: ParsedLine) throws -> WriteBatch {
    var batch = WriteBatch()
    switch parsed.kind {
    case .put: try batch.put(parsed.value, for: parsed.key)
    case .putBefore: try batch.put(parsed.value, for: parsed.key, before: parsed.before)
    case .remove: try batch.remove(parsed.key)
    case .move: try batch.move(parsed.key, before: parsed.before)
    case .moveToEnd: try batch.moveToEnd(parsed.key)
    case .clear: try batch.clear()
    }
    return batch
  }

  /// A page's records as `logctl replay` prints them.
  private static func printed(_ view: PageView) throws -> [UInt8] {
    var lines = ByteBuffer()
    try view.forEach { key, value in
      lines.beginLine()
      lines.member("key", or: "key64", key)
      lines.member("value", or: "value64", value)
      lines.endLine()
      return true
    }
    return lines.bytes
  }
}
