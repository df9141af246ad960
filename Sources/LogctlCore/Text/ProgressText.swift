/// One line about how far a piece of work has come.
package enum ProgressText {
  /// `writing 1.20 GB of 3.40 GB, 310 MB/s, 7 s left`.
  package static func describe(
    _ phase: String, _ completed: UInt64, _ total: UInt64?, nanoseconds: UInt64
  ) -> String {
    var text = phase + " " + Quantity.bytes(completed)
    if let total, total >= completed { text += " of " + Quantity.bytes(total) }
    let seconds = Double(nanoseconds) / 1e9
    guard seconds > 0.1, completed > 0 else { return text }
    let rate = Double(completed) / seconds
    text += ", " + Quantity.bytes(UInt64(rate)) + "/s"
    if let total, total > completed, seconds > 0.5 {
      let left = (Double(total - completed) / rate).rounded(.up)
      if left < 1e9 { text += ", " + Quantity.time(seconds: UInt64(left)) + " left" }
    }
    return text
  }
}
