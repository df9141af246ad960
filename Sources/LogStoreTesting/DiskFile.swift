/// A file: what the cache shows, what the medium holds, and what was written since the last sync.
struct DiskFile {
  var current: [UInt8] = []
  var durable: [UInt8] = []
  /// Writes that no sync has forced to the medium, in order.
  var pending: [Write] = []
  /// Seconds since 1970.
  var modified: Int64
  /// Whether this is no file at all, but a device or a link.
  var isOther = false

  struct Write {
    var offset: Int
    var bytes: [UInt8]
    var end: Int { offset + bytes.count }
  }

  init(modified: Int64) { self.modified = modified }

  mutating func write(_ bytes: [UInt8], at offset: Int) {
    DiskFile.apply(bytes, at: offset, to: &current)
    pending.append(Write(offset: offset, bytes: bytes))
  }

  mutating func sync() {
    for write in pending { DiskFile.apply(write.bytes, at: write.offset, to: &durable) }
    pending = []
  }

  /// A sync that fails: the pages count as clean, and the medium does not have them.
  mutating func failSync(_ cache: Fault.Cache) {
    pending = []
    if cache == .old { current = durable }
  }

  /// Puts bytes there by other means than the page's: durable at once.
  mutating func replace(with bytes: [UInt8]) {
    current = bytes
    durable = bytes
    pending = []
  }

  static func apply(_ bytes: [UInt8], at offset: Int, to target: inout [UInt8]) {
    if offset == target.count {
      target.append(contentsOf: bytes)
      return
    }
    if target.count < offset + bytes.count {
      target.append(contentsOf: repeatElement(0, count: offset + bytes.count - target.count))
    }
    target.replaceSubrange(offset..<(offset + bytes.count), with: bytes)
  }
}
