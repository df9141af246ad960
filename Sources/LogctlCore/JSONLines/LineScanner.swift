/// A place in a line, and the tokens that can be read from there.
///
/// Safe because every access lies in `start..<end`, which the caller vouches for: reads check `end`, and decoding writes
/// only behind what it has read.
@safe
struct LineScanner {
  private let base: UnsafeMutablePointer<UInt8>
  let start: Int
  private let end: Int
  var at: Int

  init(_ base: UnsafeMutablePointer<UInt8>, from start: Int, to end: Int) {
    unsafe self.base = base
    self.start = start
    self.end = end
    at = start
  }

  @inline(__always)
  func peek() -> UInt8? { at < end ? unsafe base[at] : nil }

  @inline(__always)
  mutating func skipWhitespace() {
    while at < end {
      switch unsafe base[at] {
      case 0x20, 0x09, 0x0A, 0x0D: at += 1
      default: return
      }
    }
  }

  mutating func skipNull() -> Bool {
    guard end - at >= 4, unsafe base[at] == 0x6E, unsafe base[at + 1] == 0x75, unsafe base[at + 2] == 0x6C,
      unsafe base[at + 3] == 0x6C
    else { return false }
    at += 4
    return true
  }

  var isByteOrderMark: Bool {
    unsafe end - at >= 3 && base[at] == 0xEF && base[at + 1] == 0xBB && base[at + 2] == 0xBF
  }

  func error(_ reason: LineError.Reason, at place: Int? = nil) -> LineError {
    LineError(reason: reason, column: (place ?? at) - start + 1)
  }

  /// The bytes of a string of at most eight, put together; nil if it is longer or empty.
  @inline(__always)
  func packed(_ slice: Slice) -> UInt64? {
    guard slice.count > 0, slice.count <= 8 else { return nil }
    var value: UInt64 = 0
    for i in 0..<slice.count { value |= unsafe UInt64(base[slice.start + i]) << UInt64(i * 8) }
    // A zero byte at the end would vanish in the packing.
    return unsafe base[slice.start + slice.count - 1] == 0 ? nil : value
  }

  /// The beginning of a string, for a message.
  func text(_ slice: Slice) -> String {
    unsafe String(decoding: UnsafeBufferPointer(start: base + slice.start, count: min(slice.count, 256)), as: UTF8.self)
  }

  /// Reads the string whose opening quote is next, and decodes it in place.
  mutating func string() throws(LineError) -> Slice {
    let first = at + 1
    var i = first
    while true {
      i = plainEnd(from: i)
      guard i < end else { throw error(.expected("the end of the string", found: .end), at: end) }
      let byte = unsafe base[i]
      if byte == UInt8(ascii: "\"") {
        at = i + 1
        return Slice(start: first, count: i - first)
      }
      if byte == UInt8(ascii: "\\") { return try escapedString(from: first, escape: i) }
      i += try multibyteLength(at: i, byte)
    }
  }

  /// Goes on with a string from its first escape, moving what follows into its place.
  private mutating func escapedString(from first: Int, escape: Int) throws(LineError) -> Slice {
    var source = escape
    var target = escape
    while true {
      while source + 8 <= end {
        let word = load(source)
        let special = LineScanner.special(word)
        guard special == 0 else {
          for _ in 0..<(special.trailingZeroBitCount >> 3) {
            unsafe base[target] = base[source]
            source += 1
            target += 1
          }
          break
        }
        unsafe UnsafeMutableRawPointer(base + target).storeBytes(of: word, as: UInt64.self)
        source += 8
        target += 8
      }
      guard source < end else { throw error(.expected("the end of the string", found: .end), at: end) }
      let byte = unsafe base[source]
      switch byte {
      case UInt8(ascii: "\""):
        at = source + 1
        return Slice(start: first, count: target - first)
      case UInt8(ascii: "\\"):
        try unescape(&source, &target)
      case 0x20..<0x80:
        unsafe base[target] = byte
        source += 1
        target += 1
      default:
        let length = try multibyteLength(at: source, byte)
        for _ in 0..<length {
          unsafe base[target] = base[source]
          source += 1
          target += 1
        }
      }
    }
  }

  /// Decodes base64 in place.
  func base64(_ slice: Slice) throws(LineError) -> Slice {
    do throws(Base64.Failure) {
      let count = try unsafe Base64.decodeInPlace(base + slice.start, count: slice.count)
      return Slice(start: slice.start, count: count)
    } catch {
      throw self.error(.invalidBase64(error.description), at: slice.start + error.offset)
    }
  }

  // MARK: Characters

  /// The first byte from `i` on that is not plain ASCII inside a string, or the end.
  @inline(__always)
  private func plainEnd(from index: Int) -> Int {
    var i = index
    while i + 8 <= end {
      let special = LineScanner.special(load(i))
      if special != 0 { return i + special.trailingZeroBitCount >> 3 }
      i += 8
    }
    while i < end {
      switch unsafe base[i] {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"), 0..<0x20, 0x80...: return i
      default: i += 1
      }
    }
    return i
  }

  @inline(__always)
  private func load(_ i: Int) -> UInt64 {
    unsafe UInt64(littleEndian: UnsafeRawPointer(base + i).loadUnaligned(as: UInt64.self))
  }

  /// Has the high bit of the first byte set that is a quote, a backslash, a control character or not ASCII. Bits of
  /// later bytes may be set wrongly.
  @inline(__always)
  private static func special(_ word: UInt64) -> UInt64 {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let quote = word ^ (ones &* 0x22)
    let backslash = word ^ (ones &* 0x5C)
    let found =
      ((quote &- ones) & ~quote) | ((backslash &- ones) & ~backslash) | ((word &- (ones &* 0x20)) & ~word) | word
    return found & (ones &* 0x80)
  }

  private func multibyteLength(at i: Int, _ byte: UInt8) throws(LineError) -> Int {
    if byte < 0x20 { throw error(.controlCharacter(byte), at: i) }
    let length = unsafe UTF8Check.sequenceLength(UnsafePointer(base) + i, remaining: end - i)
    if length == 0 { throw error(.invalidUTF8, at: i) }
    return length
  }

  @inline(__always)
  private func unescape(_ source: inout Int, _ target: inout Int) throws(LineError) {
    guard source + 1 < end else { throw error(.expected("the end of the string", found: .end), at: end) }
    let plain: UInt8
    switch unsafe base[source + 1] {
    case UInt8(ascii: "\""): plain = 0x22
    case UInt8(ascii: "\\"): plain = 0x5C
    case UInt8(ascii: "/"): plain = 0x2F
    case UInt8(ascii: "b"): plain = 0x08
    case UInt8(ascii: "f"): plain = 0x0C
    case UInt8(ascii: "n"): plain = 0x0A
    case UInt8(ascii: "r"): plain = 0x0D
    case UInt8(ascii: "t"): plain = 0x09
    case UInt8(ascii: "u"):
      try unescapeUnicode(&source, &target)
      return
    default: throw error(.invalidEscape, at: source)
    }
    unsafe base[target] = plain
    target += 1
    source += 2
  }

  private func unescapeUnicode(_ source: inout Int, _ target: inout Int) throws(LineError) {
    let place = source
    var scalar = try hexadecimal(at: source + 2, escape: place)
    source += 6
    if scalar >= 0xD800 && scalar < 0xE000 {
      guard scalar < 0xDC00, source + 1 < end, unsafe base[source] == UInt8(ascii: "\\"),
        unsafe base[source + 1] == UInt8(ascii: "u")
      else { throw error(.loneSurrogate, at: place) }
      let low = try hexadecimal(at: source + 2, escape: source)
      guard low >= 0xDC00 && low < 0xE000 else { throw error(.loneSurrogate, at: place) }
      scalar = 0x10000 + (scalar - 0xD800) << 10 + (low - 0xDC00)
      source += 6
    }
    func write(_ byte: UInt32) {
      unsafe base[target] = UInt8(truncatingIfNeeded: byte)
      target += 1
    }
    switch scalar {
    case 0..<0x80:
      write(scalar)
    case 0x80..<0x800:
      write(0xC0 | scalar >> 6)
      write(0x80 | scalar & 0x3F)
    case 0x800..<0x10000:
      write(0xE0 | scalar >> 12)
      write(0x80 | scalar >> 6 & 0x3F)
      write(0x80 | scalar & 0x3F)
    default:
      write(0xF0 | scalar >> 18)
      write(0x80 | scalar >> 12 & 0x3F)
      write(0x80 | scalar >> 6 & 0x3F)
      write(0x80 | scalar & 0x3F)
    }
  }

  private func hexadecimal(at i: Int, escape: Int) throws(LineError) -> UInt32 {
    guard i + 4 <= end else { throw error(.invalidEscape, at: escape) }
    var value: UInt32 = 0
    for k in i..<(i + 4) {
      let byte = unsafe base[k]
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt32(byte - 0x30)
      case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value << 4 | UInt32(byte - 0x57)
      case UInt8(ascii: "A")...UInt8(ascii: "F"): value = value << 4 | UInt32(byte - 0x37)
      default: throw error(.invalidEscape, at: escape)
      }
    }
    return value
  }
}
