import CProbe
import Glibc

/// The memory that this process holds, in bytes, as the kernel counts it. Pages of mapped files are in it.
enum MemoryUse {
  /// Gives back what is free, makes what is held now the peak, and returns it.
  static func startPeak() throws -> Int {
    probe_release_memory()
    // "5" resets the peak.
    let file = try PlainFile("/proc/self/clear_refs", flags: O_WRONLY)
    try [UInt8]("5".utf8).withUnsafeBytes { try file.append($0) }
    return try field("VmRSS:", of: "/proc/self/status")
  }

  static func peak() throws -> Int { try field("VmHWM:", of: "/proc/self/status") }

  /// What is not of a file, exactly, with what is free given back first.
  static func ownPages() throws -> Int {
    probe_release_memory()
    return try field("Anonymous:", of: "/proc/self/smaps_rollup")
  }

  private static func field(_ name: String, of file: String) throws -> Int {
    for line in try PlainFile.text(file).split(separator: "\n") where line.hasPrefix(name) {
      let words = line.split(separator: " ")
      if words.count >= 2, let value = Int(String(words[1])) { return value << 10 }
    }
    throw Failure("\(file) has no \(name)")
  }
}
