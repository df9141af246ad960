import Glibc

/// What this process has written since it started.
struct WrittenBytes {
  /// To `write` and its kin.
  var handedOver = 0
  /// Pages that went, or will go, to a disk because of it.
  var toDisk = 0

  static func now() throws -> WrittenBytes {
    var result = WrittenBytes()
    for line in try PlainFile.text("/proc/self/io").split(separator: "\n") {
      let words = line.split(separator: " ")
      guard words.count == 2, let value = Int(String(words[1])) else { continue }
      if words[0] == "wchar:" { result.handedOver = value }
      if words[0] == "write_bytes:" { result.toDisk = value }
    }
    return result
  }

  static func - (left: WrittenBytes, right: WrittenBytes) -> WrittenBytes {
    WrittenBytes(handedOver: left.handedOver - right.handedOver, toDisk: left.toDisk - right.toDisk)
  }
}
