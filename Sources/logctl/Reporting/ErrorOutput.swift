internal import LogctlCore
internal import Synchronization

/// Standard error: whole lines, and one line of progress that comes and goes below them.
final class ErrorOutput: Sendable {
  private struct State {
    var isProgressShown = false
    var isClosed = false
  }

  private let state = Mutex(State())
  private let descriptor: Descriptor
  let columns: Int?

  init(_ descriptor: Descriptor) {
    self.descriptor = descriptor
    columns =
      descriptor.isTerminal && Environment.variable("TERM") != "dumb" ? descriptor.columns ?? 80 : nil
  }

  /// Whether progress can be shown.
  var isTerminal: Bool { columns != nil }

  func line(_ text: String) { write(text + "\n", isProgress: false) }

  /// Text as it stands, with no end of line added.
  func text(_ text: String) { write(text, isProgress: false) }

  /// Replaces the line of progress; an empty text removes it.
  func progress(_ text: String) {
    guard let columns else { return }
    write(String(text.prefix(max(columns - 1, 10))), isProgress: !text.isEmpty)
  }

  private func write(_ text: String, isProgress: Bool) {
    state.withLock { state in
      guard !state.isClosed else { return }
      var bytes = state.isProgressShown ? "\r\u{1B}[K" + text : text
      state.isProgressShown = isProgress
      guard !bytes.isEmpty else { return }
      let isWritten = bytes.withUTF8 { utf8 in
        do throws(SystemError) {
          try unsafe descriptor.write(UnsafeRawBufferPointer(utf8))
          return true
        } catch {
          // There is nobody left to tell.
          return false
        }
      }
      if !isWritten { state.isClosed = true }
    }
  }
}
