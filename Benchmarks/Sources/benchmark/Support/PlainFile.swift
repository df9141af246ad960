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

  func seekToEnd() -> Int { Int(lseek(descriptor, 0, SEEK_END)) }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws -> Int {
    let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
    guard count >= 0 else { throw Failure(errno: path) }
    return count
  }

  /// Reads all in pieces of 256 KiB and returns the checksum.
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
