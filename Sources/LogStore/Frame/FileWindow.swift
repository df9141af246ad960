/// The part of a file that is in memory while it is read from front to back.
///
/// Invariant: `buffer` holds the file's bytes from `start` on. Used from one thread at a time.
final class FileWindow {
  let file: any StorageFile
  /// Nothing is read from here on.
  let limit: UInt64
  private(set) var start: UInt64 = 0
  private let buffer: ByteBuffer
  private let step: Int

  /// `limit` is at most the file's length; `.max` where the caller asks only for what is there.
  init(_ file: any StorageFile, from first: UInt64 = 0, limit: UInt64, step: Int = 256 << 10) {
    self.file = file
    self.limit = limit
    self.step = step
    buffer = ByteBuffer(capacity: limit == .max ? 0 : min(step, Int(clamping: limit.subtractingCapped(first))) + 64)
  }

  /// Makes `count` bytes from `offset` on available, or all there are up to the limit; returns where they are and how
  /// many are at hand. The address is good until the next call.
  @inline(__always)
  func bytes(at offset: UInt64, count: Int) throws(StorageError) -> UnsafeRawBufferPointer {
    if offset >= start, offset &+ UInt64(count) <= start &+ UInt64(buffer.count) {
      let place = Int(offset &- start)
      return unsafe UnsafeRawBufferPointer(start: buffer.base + place, count: buffer.count &- place)
    }
    return try unsafe refill(at: offset, count: count, ahead: step)
  }

  /// The same, reading `ahead` bytes where it has to read at all.
  func bytes(at offset: UInt64, count: Int, ahead: Int) throws(StorageError) -> UnsafeRawBufferPointer {
    if offset >= start, offset &+ UInt64(count) <= start &+ UInt64(buffer.count) {
      return try unsafe bytes(at: offset, count: count)
    }
    return try unsafe refill(at: offset, count: count, ahead: ahead)
  }

  private func refill(at offset: UInt64, count: Int, ahead: Int) throws(StorageError) -> UnsafeRawBufferPointer {
    guard offset < limit else { return unsafe UnsafeRawBufferPointer(start: nil, count: 0) }
    let wanted = min(max(count, ahead), Int(clamping: limit - offset))
    if offset >= start, offset < start + UInt64(buffer.count) {
      buffer.removeFirst(Int(offset - start))
    } else {
      buffer.count = 0
    }
    start = offset
    let held = buffer.count
    if held < wanted {
      buffer.reserve(wanted)
      let room = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer.storage[held..<wanted])
      do {
        buffer.count = held + (try unsafe file.readFully(into: room, at: offset + UInt64(held)))
      } catch {
        buffer.count = held
        throw error
      }
    }
    return unsafe buffer.bytes
  }
}
