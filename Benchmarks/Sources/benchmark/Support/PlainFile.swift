import CLibDeflate
import Glibc

/// A file through plain system calls: what no engine can be faster than.
final class PlainFile {
  let path: String
  private let descriptor: Int32

  init(_ path: String, flags: Int32 = O_RDWR | O_CREAT) throws {
    self.path = path
    descriptor = open(path, flags | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw Failure(errno: path) }
  }

  deinit { close(descriptor) }

  @inline(__always)
  func append(_ bytes: UnsafeRawBufferPointer) throws {
    guard write(descriptor, bytes.baseAddress, bytes.count) == bytes.count else { throw Failure(errno: path) }
  }

  func sync() throws { guard fdatasync(descriptor) == 0 else { throw Failure(errno: path) } }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws -> Int {
    let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
    guard count >= 0 else { throw Failure(errno: path) }
    return count
  }

  /// Has the system forget what it keeps of the file in memory.
  func dropCache() { posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED) }

  /// Reads all in pieces of 256 KiB and returns the checksum.
  @discardableResult
  func checksum() throws -> UInt32 {
    let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 4096)
    defer { piece.deallocate() }
    var crc: UInt32 = 0
    var offset = 0
    while true {
      let count = try read(into: piece, at: offset)
      if count == 0 { return crc }
      crc = libdeflate_crc32(crc, piece.baseAddress, count)
      offset += count
    }
  }

  /// The whole of a file, also of those that the system makes up.
  static func text(_ path: String) throws -> String {
    let file = try PlainFile(path, flags: O_RDONLY)
    let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
    defer { piece.deallocate() }
    var bytes: [UInt8] = []
    while true {
      let count = try file.read(into: piece, at: bytes.count)
      if count == 0 { return String(decoding: bytes, as: UTF8.self) }
      bytes += piece[..<count]
    }
  }

  /// A file of so many bytes.
  static func make(_ path: String, bytes: Int) throws -> PlainFile {
    let file = try PlainFile(path)
    let piece = [UInt8](repeating: 0xA5, count: 1 << 20)
    var rest = bytes
    while rest > 0 {
      try piece.withUnsafeBytes { try file.append(UnsafeRawBufferPointer(rebasing: $0[..<min(rest, $0.count)])) }
      rest -= piece.count
    }
    return file
  }

  /// Copies a file, and makes the copy durable.
  static func copy(_ from: String, to: String) throws {
    let source = try PlainFile(from, flags: O_RDONLY)
    let target = try PlainFile(to, flags: O_RDWR | O_CREAT | O_TRUNC)
    let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
    defer { piece.deallocate() }
    var offset = 0
    while true {
      let count = try source.read(into: piece, at: offset)
      if count == 0 { break }
      try target.append(UnsafeRawBufferPointer(rebasing: piece[..<count]))
      offset += count
    }
    try target.sync()
  }
}
