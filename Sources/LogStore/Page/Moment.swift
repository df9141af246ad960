/// A moment of a page's history.
public enum Moment: Sendable, Hashable {
  case now
  /// After that many operations; inside a batch, the state in front of it.
  case lsn(UInt64)
  /// Nanoseconds since 1970: the last position before the first mark later than this.
  case time(nanoseconds: Int64)
}
