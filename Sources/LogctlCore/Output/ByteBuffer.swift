/// Bytes on their way out: grows as needed, and keeps its memory when emptied.
///
/// Safe because every write first makes room in `capacity` and `count` never passes it.
@safe
package struct ByteBuffer: ~Copyable {
  private var base: UnsafeMutablePointer<UInt8>
  private var capacity: Int
  package private(set) var count = 0
  /// Whether the next member of the JSON object being written needs a comma in front of it.
  var needsComma = false

  package init(capacity: Int = 256) {
    unsafe base = .allocate(capacity: capacity)
    self.capacity = capacity
  }

  deinit { unsafe base.deallocate() }

  /// The bytes so far.
  package var bytes: [UInt8] { unsafe [UInt8](UnsafeBufferPointer(start: base, count: count)) }

  package func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    unsafe body(UnsafeRawBufferPointer(start: base, count: count))
  }

  package mutating func removeAll() { count = 0 }

  package mutating func append(_ byte: UInt8) {
    reserve(1)
    unsafe base[count] = byte
    count += 1
  }

  package mutating func append(_ text: StaticString) {
    let length = text.utf8CodeUnitCount
    reserve(length)
    unsafe (base + count).update(from: text.utf8Start, count: length)
    count += length
  }

  package mutating func append(_ text: String) {
    var text = text
    text.withUTF8 { utf8 in
      guard let start = utf8.baseAddress else { return }
      unsafe append(start, utf8.count)
    }
  }

  package mutating func append(_ bytes: RawSpan) {
    unsafe bytes.withUnsafeBytes { buffer in
      guard let start = buffer.baseAddress else { return }
      unsafe append(start.assumingMemoryBound(to: UInt8.self), buffer.count)
    }
  }

  package mutating func append(_ value: UInt64) {
    reserve(20)
    var value = value
    var digits = 1
    var limit: UInt64 = 10
    while value >= limit {
      digits += 1
      let (next, overflow) = limit.multipliedReportingOverflow(by: 10)
      if overflow { break }
      limit = next
    }
    for place in stride(from: digits - 1, through: 0, by: -1) {
      unsafe base[count + place] = 0x30 + UInt8(truncatingIfNeeded: value % 10)
      value /= 10
    }
    count += digits
  }

  /// The text of a JSON string, without its quotes. The bytes must be UTF-8.
  package mutating func appendEscaped(_ bytes: RawSpan) {
    unsafe bytes.withUnsafeBytes { buffer in
      guard let start = buffer.baseAddress else { return }
      unsafe appendEscaped(start.assumingMemoryBound(to: UInt8.self), buffer.count)
    }
  }

  package mutating func appendBase64(_ bytes: RawSpan) {
    unsafe bytes.withUnsafeBytes { buffer in
      guard let start = buffer.baseAddress else { return }
      unsafe appendBase64(start.assumingMemoryBound(to: UInt8.self), buffer.count)
    }
  }

  // MARK: Over pointers

  private mutating func append(_ source: UnsafePointer<UInt8>, _ length: Int) {
    reserve(length)
    unsafe (base + count).update(from: source, count: length)
    count += length
  }

  private mutating func appendEscaped(_ source: UnsafePointer<UInt8>, _ length: Int) {
    reserve(length)
    var i = 0
    while i < length {
      // Eight bytes are copied before they are looked at; what is behind an escape is copied again.
      if i + 8 <= length {
        reserve(length - i)
        let word = unsafe UnsafeRawPointer(source + i).loadUnaligned(as: UInt64.self)
        unsafe UnsafeMutableRawPointer(base + count).storeBytes(of: word, as: UInt64.self)
        let special = ByteBuffer.special(UInt64(littleEndian: word))
        let plain = special == 0 ? 8 : special.trailingZeroBitCount >> 3
        i += plain
        count += plain
        if special == 0 { continue }
      }
      let byte = unsafe source[i]
      i += 1
      if byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\") {
        append(byte)
        continue
      }
      append(UInt8(ascii: "\\"))
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): append(byte)
      case 0x08: append(UInt8(ascii: "b"))
      case 0x09: append(UInt8(ascii: "t"))
      case 0x0A: append(UInt8(ascii: "n"))
      case 0x0C: append(UInt8(ascii: "f"))
      case 0x0D: append(UInt8(ascii: "r"))
      default:
        append(byte < 16 ? "u000" : "u001")
        append("0123456789abcdef".utf8.dropFirst(Int(byte & 0xF)).first ?? 0)
      }
    }
  }

  /// Has the high bit of the first byte set that JSON escapes. Bits of later bytes may be set wrongly.
  @inline(__always)
  private static func special(_ word: UInt64) -> UInt64 {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let quote = word ^ (ones &* 0x22)
    let backslash = word ^ (ones &* 0x5C)
    let found = ((quote &- ones) & ~quote) | ((backslash &- ones) & ~backslash) | ((word &- (ones &* 0x20)) & ~word)
    return found & (ones &* 0x80)
  }

  private mutating func appendBase64(_ source: UnsafePointer<UInt8>, _ length: Int) {
    reserve((length + 2) / 3 * 4)
    let alphabet = unsafe Base64.alphabet
    var target = unsafe base + count
    var i = 0
    while i + 3 <= length {
      let (a, b, c) = unsafe (source[i], source[i + 1], source[i + 2])
      unsafe target[0] = alphabet[Int(a >> 2)]
      unsafe target[1] = alphabet[Int((a & 0x03) << 4 | b >> 4)]
      unsafe target[2] = alphabet[Int((b & 0x0F) << 2 | c >> 6)]
      unsafe target[3] = alphabet[Int(c & 0x3F)]
      unsafe target += 4
      i += 3
    }
    if i < length {
      let a = unsafe source[i]
      let b = i + 1 < length ? unsafe source[i + 1] : 0
      unsafe target[0] = alphabet[Int(a >> 2)]
      unsafe target[1] = alphabet[Int((a & 0x03) << 4 | b >> 4)]
      unsafe target[2] = i + 1 < length ? alphabet[Int((b & 0x0F) << 2)] : UInt8(ascii: "=")
      unsafe target[3] = UInt8(ascii: "=")
    }
    count += (length + 2) / 3 * 4
  }

  @inline(__always)
  private mutating func reserve(_ more: Int) {
    if capacity - count < more { grow(more) }
  }

  private mutating func grow(_ more: Int) {
    let larger = max(capacity * 2, count + more)
    let moved = UnsafeMutablePointer<UInt8>.allocate(capacity: larger)
    unsafe moved.update(from: base, count: count)
    unsafe base.deallocate()
    unsafe base = moved
    capacity = larger
  }
}
