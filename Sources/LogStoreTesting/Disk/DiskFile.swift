/// A file: what the cache shows, what the medium holds, and what was written since the last sync.
struct DiskFile {
  var current: [UInt8] = []
  var durable: [UInt8] = []
  /// Writes that no sync has forced to the medium, in order.
  var pending: [Write] = []
  /// What only barriers have been put behind since the drive was last flushed; nil: nothing.
  private(set) var handed: Handed?
  /// What stood here before a crash or a failed sync: the blocks may show it again.
  var older: [UInt8] = []
  /// Seconds since 1970.
  var modified: Int64
  /// Whether this is no file at all, but a device or a link.
  var isOther = false

  struct Write {
    var offset: Int
    var bytes: [UInt8]
    /// When it was made, on the disk's own count.
    var sequence: UInt64 = 0
    /// The barrier that was put behind it.
    var barrier: UInt64?
    var end: Int { offset + bytes.count }
  }

  /// Bytes that have left the system's cache and may still be in the drive's.
  struct Handed {
    var medium: [UInt8]
    var writes: [Write]
  }

  init(modified: Int64) { self.modified = modified }

  mutating func write(_ bytes: [UInt8], at offset: Int, _ sequence: UInt64) {
    DiskFile.apply(bytes, at: offset, to: &current)
    pending.append(Write(offset: offset, bytes: bytes, sequence: sequence))
  }

  mutating func sync() {
    guard !pending.isEmpty else { return }
    for write in pending { DiskFile.apply(write.bytes, at: write.offset, to: &durable) }
    pending = []
  }

  /// A sync that ends in a barrier, and leaves the drive its cache.
  mutating func sync(behind barrier: UInt64) {
    guard !pending.isEmpty else { return }
    var handed = handed ?? Handed(medium: durable, writes: [])
    for var write in pending {
      write.barrier = barrier
      handed.writes.append(write)
    }
    self.handed = handed
    sync()
  }

  /// The drive has written all that it was handed.
  mutating func flushDrive() { if handed != nil { handed = nil } }

  /// A sync that fails: the pages count as clean, and the medium does not have them.
  mutating func failSync(_ cache: Fault.Cache) {
    pending = []
    if current.count >= older.count { older = current }
    if cache == .old { current = durable }
  }

  /// Puts bytes there by other means than the page's: durable at once.
  mutating func replace(with bytes: [UInt8]) {
    current = bytes
    durable = bytes
    pending = []
    handed = nil
  }

  /// Settles on what a power cut has left.
  mutating func settle(on bytes: [UInt8]) {
    if current.count >= older.count { older = current }
    replace(with: bytes)
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
