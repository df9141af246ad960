/// What the headers of journals and snapshots have in common: magic, version and features, identity, checksum.
enum FileHeader {
  static let version: UInt16 = 1
  static let journalMagic: [UInt8] = [0x89, 0x4C, 0x53, 0x4A, 0x0D, 0x0A, 0x1A, 0x0A]
  static let snapshotMagic: [UInt8] = [0x89, 0x4C, 0x53, 0x53, 0x0D, 0x0A, 0x1A, 0x0A]

  enum Verdict: Equatable {
    case good
    /// The first bytes are not those of such a file.
    case foreign
    /// It is such a file, and its checksum does not match.
    case damaged
    /// It is whole, and of a version or with features that this one does not know.
    case newer
  }

  /// Judges the first 128 bytes of a file.
  static func judge(_ bytes: UnsafeRawBufferPointer, magic: [UInt8]) -> Verdict {
    guard bytes.count >= magic.count else { return .foreign }
    for index in magic.indices {
      guard unsafe bytes[index] == magic[index] else { return .foreign }
    }
    guard bytes.count >= Limits.headerBytes, let base = bytes.baseAddress else { return .damaged }
    let covered = unsafe UnsafeRawBufferPointer(rebasing: bytes[..<124])
    guard unsafe Checksum.update(0, covered) == base.load(124) else { return .damaged }
    let found: UInt16 = unsafe base.load(8)
    // There never was a version 0.
    guard found >= version else { return .damaged }
    guard found == version, unsafe base.load(16, as: UInt32.self) == 0 else { return .newer }
    guard unsafe base.load(10, as: UInt16.self) == UInt16(Limits.headerBytes) else { return .damaged }
    return .good
  }

  /// The page that a file says it is of, if its magic and its checksum are right, whatever else its header says.
  static func identity(_ bytes: UnsafeRawBufferPointer, magic: [UInt8]) -> PageID? {
    guard bytes.count >= Limits.headerBytes, let base = bytes.baseAddress,
      magic.indices.allSatisfy({ unsafe bytes[$0] == magic[$0] })
    else { return nil }
    let covered = unsafe UnsafeRawBufferPointer(rebasing: bytes[..<124])
    return unsafe Checksum.update(0, covered) == base.load(124) ? id(base) : nil
  }

  static func begin(_ buffer: ByteBuffer, magic: [UInt8], state: UInt32, id: PageID, generation: UInt64) {
    for byte in magic { buffer.append(byte) }
    buffer.append(version)
    buffer.append(UInt16(Limits.headerBytes))
    buffer.append(UInt64(0))
    buffer.append(state)
    // The id's bytes stand in their written order.
    buffer.append(id.high.byteSwapped)
    buffer.append(id.low.byteSwapped)
    buffer.append(generation)
  }

  /// Fills up with zeros to 124 bytes and puts the checksum behind. `start` is where the header began.
  static func end(_ buffer: ByteBuffer, start: Int) {
    while buffer.count - start < 124 { buffer.append(UInt8(0)) }
    let covered = unsafe UnsafeRawBufferPointer(rebasing: buffer.bytes[start..<(start + 124)])
    unsafe buffer.append(Checksum.update(0, covered))
  }

  /// Safety: `base` points to 128 bytes.
  static func id(_ base: UnsafeRawPointer) -> PageID {
    unsafe PageID(high: base.load(24, as: UInt64.self).byteSwapped, low: base.load(32, as: UInt64.self).byteSwapped)
  }
}
