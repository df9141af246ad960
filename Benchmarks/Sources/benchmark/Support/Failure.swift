import Glibc

/// Something went wrong that no measurement can go on after.
struct Failure: Error, CustomStringConvertible {
  var description: String

  init(_ description: String) { self.description = description }

  /// The system's last error, for a call on `what`.
  init(errno what: String) { description = "\(what): \(String(cString: strerror(Glibc.errno)))" }
}

func complain(_ text: String) { put(text, STDERR_FILENO) }

/// Writes a line to standard output at once, so that a table appears as it is made.
func say(_ text: some CustomStringConvertible) { put(text.description, STDOUT_FILENO) }

private func put(_ text: String, _ descriptor: Int32) {
  let line = Array((text + "\n").utf8)
  _ = write(descriptor, line, line.count)
}
