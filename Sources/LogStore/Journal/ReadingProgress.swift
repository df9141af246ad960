/// Tells whoever waits for a file how far reading it has come, and hears whether to go on.
///
/// A search behind a fault looks at bytes that the replay, or another search, comes by again. Each byte counts once; but
/// whoever waits is asked after every few MiB of work, whatever it is that is being looked at.
final class ReadingProgress {
  private let path: String
  /// Gets the bytes that nobody had looked at before; answers false to cancel.
  private let handler: (UInt64) -> Bool
  /// Everything in front of it has been told.
  private var told: UInt64
  private var place: UInt64
  private var work: UInt64 = 0

  private static let step: UInt64 = 4 << 20

  init(_ path: String, from start: UInt64, _ handler: @escaping (UInt64) -> Bool) {
    self.path = path
    self.handler = handler
    told = start
    place = start
  }

  /// Everything has been looked at from where this was called last up to `next`; what begins further back begins anew.
  @inline(__always)
  func come(to next: UInt64) throws(LogStoreError) {
    if next > place { work += next - place }
    place = next
    if work >= ReadingProgress.step { try tell() }
  }

  private func tell() throws(LogStoreError) {
    work = 0
    let fresh = place.subtractingCapped(told)
    told += fresh
    guard handler(fresh) else {
      throw LogStoreError(.cancelled, "reading the file was cancelled", path: path)
    }
  }
}
