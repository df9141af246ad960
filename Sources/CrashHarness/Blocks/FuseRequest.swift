import Glibc

/// A request of the kernel to a file system in user space, as it comes from `/dev/fuse` (protocol 7.31).
struct FuseRequest {
  enum Operation: UInt32 {
    case lookup = 1
    case forget = 2
    case attributes = 3
    case setAttributes = 4
    case open = 14
    case read = 15
    case write = 16
    case statistics = 17
    case release = 18
    case sync = 20
    case flush = 25
    case initialize = 26
    case interrupt = 36
    case destroy = 38
    case forgetMany = 42
  }

  static let headerBytes = 40

  /// Nil for one that this file system does not know.
  let operation: Operation?
  let unique: UInt64
  let node: UInt64
  /// What follows the header.
  let body: ArraySlice<UInt8>

  /// Nil where the bytes are no request.
  init?(_ bytes: ArraySlice<UInt8>) {
    guard bytes.count >= FuseRequest.headerBytes else { return nil }
    func number(_ place: Int, _ size: Int) -> UInt64 {
      (0..<size).reduce(0) { $0 | UInt64(bytes[bytes.startIndex + place + $1]) << UInt64(8 * $1) }
    }
    guard number(0, 4) == bytes.count else { return nil }
    operation = Operation(rawValue: UInt32(number(4, 4)))
    unique = number(8, 8)
    node = number(16, 8)
    body = bytes.dropFirst(FuseRequest.headerBytes)
  }

  func number(_ place: Int, _ size: Int) -> UInt64 {
    guard body.count >= place + size else { return 0 }
    return (0..<size).reduce(0) { $0 | UInt64(body[body.startIndex + place + $1]) << UInt64(8 * $1) }
  }

  /// The name that a lookup is for.
  var name: String { String(decoding: body.prefix { $0 != 0 }, as: UTF8.self) }
}

/// The answer to one.
struct FuseReply {
  private var bytes: [UInt8] = []

  static func error(_ number: Int32, to request: FuseRequest) -> [UInt8] { finished([], -number, request) }

  func finished(to request: FuseRequest) -> [UInt8] { FuseReply.finished(bytes, 0, request) }

  private static func finished(_ body: [UInt8], _ error: Int32, _ request: FuseRequest) -> [UInt8] {
    var head = FuseReply()
    head.add(UInt32(16 + body.count))
    head.add(UInt32(bitPattern: error))
    head.add(request.unique)
    return head.bytes + body
  }

  mutating func add(_ number: some FixedWidthInteger) {
    for shift in 0..<(number.bitWidth / 8) { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * shift))) }
  }

  mutating func add(_ data: some Sequence<UInt8>) { bytes += data }

  mutating func add(zeros count: Int) { bytes += [UInt8](repeating: 0, count: count) }

  /// The attributes of a file or folder.
  mutating func add(node: UInt64, size: UInt64, mode: UInt32) {
    add(node)
    add(size)
    add((size + 511) / 512)
    add(zeros: 36)
    add(mode)
    add(UInt32(1))
    add(zeros: 12)
    add(UInt32(4096))
    add(UInt32(0))
  }
}
