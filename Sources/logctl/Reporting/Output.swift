internal import LogctlCore

/// Standard output, through one big buffer.
final class Output {
  var buffer = ByteBuffer(capacity: Output.limit + (Output.limit >> 1))
  private let descriptor: Descriptor
  /// The first error; what is written after it goes nowhere.
  private(set) var error: SystemError?

  private static let limit = 256 << 10

  init(_ descriptor: Descriptor) { self.descriptor = descriptor }

  /// Whether there is any use in going on.
  var isOpen: Bool { error == nil }

  /// To be called between lines: writes when enough has come together.
  func flushIfFull() {
    if buffer.count >= Output.limit { flush() }
  }

  func flush() {
    if error == nil {
      unsafe buffer.withUnsafeBytes { bytes in
        do throws(SystemError) {
          try unsafe descriptor.write(bytes)
        } catch {
          self.error = error
        }
      }
    }
    buffer.removeAll()
  }

  func line(_ text: String) {
    buffer.append(text)
    buffer.append("\n")
    flushIfFull()
  }

  /// Bytes as they are; many of them do not pass through the buffer.
  func raw(_ bytes: RawSpan) {
    guard bytes.byteCount >= Output.limit else {
      buffer.append(bytes)
      flushIfFull()
      return
    }
    flush()
    guard error == nil else { return }
    unsafe bytes.withUnsafeBytes { bytes in
      do throws(SystemError) {
        try unsafe descriptor.write(bytes)
      } catch {
        self.error = error
      }
    }
  }

  /// Like `ByteBuffer.member(_:or:_:)`, but in pieces, so that a long value does not fill the buffer.
  func member(_ name: StaticString, or name64: StaticString, _ bytes: RawSpan) {
    guard bytes.byteCount >= Output.limit else {
      buffer.member(name, or: name64, bytes)
      return
    }
    let isText = UTF8Check.isValid(bytes)
    buffer.name(isText ? name : name64)
    buffer.append("\"")
    // A multiple of three, so that base64 has no padding in the middle.
    let piece = 192 << 10
    var start = 0
    while start < bytes.byteCount && isOpen {
      let end = min(start + piece, bytes.byteCount)
      let part = bytes.extracting(start..<end)
      if isText { buffer.appendEscaped(part) } else { buffer.appendBase64(part) }
      flushIfFull()
      start = end
    }
    buffer.append("\"")
  }
}
