import Glibc

/// A terminal that a program can be run on, seen from the side of the person.
final class Terminal {
  private let descriptor: Int32
  /// To be opened as the program's input, output or errors.
  let path: String

  init() {
    var (own, other) = (Int32(-1), Int32(-1))
    var name = [CChar](repeating: 0, count: 128)
    var size = winsize(ws_row: 25, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0)
    precondition(unsafe openpty(&own, &other, &name, nil, &size) == 0, "no terminal to be had")
    close(other)
    // Not for the programs that the tests start.
    _ = fcntl(own, F_SETFD, FD_CLOEXEC)
    descriptor = own
    path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { close(descriptor) }

  func type(_ text: String) {
    let bytes = Array(text.utf8)
    _ = unsafe write(descriptor, bytes, bytes.count)
  }

  /// What the program has shown until `text` appears in it, or the program has ended.
  func read(until text: String) -> String {
    var seen: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while !String(decoding: seen, as: UTF8.self).contains(text) {
      let count = unsafe Glibc.read(descriptor, &chunk, chunk.count)
      guard count > 0 else { break }
      seen += chunk[..<count]
    }
    return String(decoding: seen, as: UTF8.self)
  }

  /// What the program has shown and nobody has read.
  func available() -> String {
    var seen: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while unsafe poll(&waiting, 1, 0) == 1, waiting.revents & Int16(POLLIN) != 0 {
      let count = unsafe Glibc.read(descriptor, &chunk, chunk.count)
      guard count > 0 else { break }
      seen += chunk[..<count]
    }
    return String(decoding: seen, as: UTF8.self)
  }

  /// All that the program shows until it ends.
  func readToEnd() -> String { read(until: "\0") }
}
