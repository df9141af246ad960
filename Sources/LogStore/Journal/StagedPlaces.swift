/// Where the batches of a group end, in its bytes and in the log.
///
/// The last is kept apart from the array: a group of one batch, the common case, then never touches that. An object of
/// plain fields, because every access to a structure in a class is checked for exclusiveness at run time.
final class StagedPlaces {
  struct Staged {
    var place: Int
    var lsn: UInt64
  }

  private var count = 0
  private var place = 0
  private var lsn: UInt64 = 0
  private var earlier: [Staged] = []

  @inline(__always)
  var last: Staged? { count > 0 ? Staged(place: place, lsn: lsn) : nil }

  @inline(__always)
  func append(place: Int, lsn: UInt64) {
    if count > 0 { keepLast() }
    count &+= 1
    self.place = place
    self.lsn = lsn
  }

  private func keepLast() { earlier.append(Staged(place: place, lsn: lsn)) }

  @inline(__always)
  func removeAll() {
    if count > 1 { earlier.removeAll(keepingCapacity: true) }
    count = 0
  }

  /// The last batch that ends within the first `bytes` bytes, which are fewer than all.
  func last(upTo bytes: Int) -> Staged? { earlier.last { $0.place <= bytes } }
}
