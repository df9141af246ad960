#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// Lines from a descriptor, in one buffer that is used again and again and grows only for a line that needs it.
///
/// Safe because the ranges it hands out lie in `0..<filled`, and `filled` never passes the buffer's size.
@safe
struct LineInput: ~Copyable {
  private let descriptor: Descriptor
  private(set) var buffer: UnsafeMutableRawBufferPointer
  /// Where the bytes that were not handed out begin.
  private var start = 0
  /// Where the search for the next line's end goes on.
  private var searched = 0
  /// Where the bytes that were read end.
  private var filled = 0
  private(set) var isAtEnd = false
  /// Bytes read so far.
  private(set) var bytesRead: UInt64 = 0

  /// A line that is longer than this cannot be a record.
  static let longestLine = 2 << 30

  init(_ descriptor: Descriptor, capacity: Int = 1 << 20) {
    self.descriptor = descriptor
    unsafe buffer = UnsafeMutableRawBufferPointer(start: malloc(capacity), count: capacity)
  }

  deinit { unsafe free(buffer.baseAddress) }

  /// The next line that is whole in the buffer, without its end; after the end of the input, what stands there.
  mutating func next() -> Range<Int>? {
    if searched < filled,
      let found = unsafe memchr(buffer.baseAddress! + searched, 0x0A, filled - searched)
    {
      let end = unsafe UnsafeRawPointer(found) - UnsafeRawPointer(buffer.baseAddress!)
      let line = start..<end
      start = end + 1
      searched = start
      return line
    }
    searched = filled
    guard isAtEnd, start < filled else { return nil }
    let line = start..<filled
    start = filled
    return line
  }

  /// Reads more, which makes the ranges handed out before invalid.
  mutating func fill() throws(FillError) {
    if start > 0 {
      let rest = filled - start
      unsafe memmove(buffer.baseAddress!, buffer.baseAddress! + start, rest)
      searched -= start
      start = 0
      filled = rest
    }
    if unsafe filled == buffer.count { try grow() }
    do throws(SystemError) {
      let count = try unsafe descriptor.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]))
      filled += count
      bytesRead += UInt64(count)
      if count == 0 { isAtEnd = true }
    } catch {
      throw .system(error)
    }
  }

  enum FillError: Error {
    case system(SystemError)
    case lineTooLong
  }

  private mutating func grow() throws(FillError) {
    guard unsafe buffer.count < LineInput.longestLine else { throw .lineTooLong }
    let size = unsafe buffer.count * 2
    guard let moved = unsafe realloc(buffer.baseAddress, size) else { throw .system(SystemError(number: ENOMEM)) }
    unsafe buffer = UnsafeMutableRawBufferPointer(start: moved, count: size)
  }
}
