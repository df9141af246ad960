/// Writes and checks frames of one file. Pure functions over bytes: no I/O.
struct FrameCodec: Sendable {
  let salt: UInt64
  /// The checksum of the salt, which every frame of the file starts from.
  let seed: UInt32
  private let tables = Checksum.tables

  init(salt: UInt64) {
    self.salt = salt
    seed = Checksum.seed(salt: salt)
  }

  /// Fills in the nine bytes in front of a payload that already stands at `frame + 9`.
  ///
  /// Safety: `frame` points to 9 + `length` writable bytes.
  @inline(__always)
  func seal(_ frame: UnsafeMutableRawPointer, offset: UInt64, length: Int, type: FrameType) {
    let payload = unsafe UnsafeRawBufferPointer(start: frame + Limits.frameOverhead, count: length)
    let size = UInt32(truncatingIfNeeded: length)
    let prefix = Checksum.prefix(seed: seed, offset: offset, length: size, type: type.rawValue, tables)
    unsafe frame.store(size)
    unsafe frame.store(Checksum.update(prefix, payload), at: 4)
    unsafe frame.store(type.rawValue, at: 8)
  }

  /// Checks the frame at `frame`, which starts at `offset` of the file and has `available` bytes behind it in memory.
  ///
  /// Safety: `frame` points to `available` readable bytes.
  @inline(__always)
  func check(_ frame: UnsafeRawPointer, available: Int, offset: UInt64) -> FrameCheck {
    guard available >= Limits.frameOverhead else { return .needs(Limits.frameOverhead) }
    let length = unsafe frame.load(0, as: UInt32.self)
    let type = unsafe FrameType(rawValue: frame.load(8))
    guard length <= UInt32(Limits.payloadBytes), type.kind.rawValue != 0 else { return .bad }
    let total = Int(length) &+ Limits.frameOverhead
    guard total <= available else { return .needs(total) }
    let prefix = Checksum.prefix(seed: seed, offset: offset, length: length, type: type.rawValue, tables)
    let payload = unsafe UnsafeRawBufferPointer(start: frame + Limits.frameOverhead, count: Int(length))
    let found = unsafe frame.load(4, as: UInt32.self)
    return unsafe Checksum.update(prefix, payload) == found ? .good(type, length: Int(length)) : .bad
  }
}

/// What became of checking a frame.
enum FrameCheck {
  /// It verifies. `length` is the payload's.
  case good(FrameType, length: Int)
  /// It does not, whatever follows.
  case bad
  /// That many bytes, from the frame's start, must be at hand to tell.
  case needs(Int)
}

extension ByteBuffer {
  /// Opens a frame at the end of the buffer; the payload is appended behind it. Returns where the frame begins.
  @inline(__always)
  func openFrame() -> Int {
    let start = count
    _ = unsafe extend(Limits.frameOverhead)
    return start
  }

  /// Seals the frame that `openFrame` began and that ends where the buffer ends. `offset` is the frame's place in the file.
  @inline(__always)
  func sealFrame(_ start: Int, _ type: FrameType, offset: UInt64, codec: FrameCodec) {
    let length = count &- start &- Limits.frameOverhead
    unsafe codec.seal(base + start, offset: offset, length: length, type: type)
  }
}
