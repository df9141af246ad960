/// Where the frames of a journal or snapshot stand.
struct FramePlace: Equatable {
  var offset: Int
  var length: Int
  var type: UInt8
  var end: Int { offset + 9 + length }
  /// Without the bits that say where in its batch the frame stands.
  var kind: UInt8 { type & 0x3F }

  static func all(in bytes: [UInt8]) -> [FramePlace] {
    var found: [FramePlace] = []
    var offset = 128
    while offset + 9 <= bytes.count {
      let length = Int(integer(bytes, offset, 4))
      let frame = FramePlace(offset: offset, length: length, type: bytes[offset + 8])
      guard frame.end <= bytes.count else { break }
      found.append(frame)
      offset = frame.end
    }
    return found
  }

  static func integer(_ bytes: [UInt8], _ offset: Int, _ size: Int) -> UInt64 {
    (0..<size).reduce(0) { $0 | UInt64(bytes[offset + $1]) << (8 * UInt64($1)) }
  }
}

/// The sections of a snapshot, from its footer.
struct SnapshotPlaces {
  var records: Int
  var order: Int
  var keys: Int
  var footer: Int

  init(_ bytes: [UInt8]) {
    let footer = bytes.count - 65
    func field(_ place: Int) -> Int { Int(FramePlace.integer(bytes, footer + 9 + place, 8)) }
    self.footer = footer
    (records, order, keys) = (field(16), field(24), field(32))
  }
}
