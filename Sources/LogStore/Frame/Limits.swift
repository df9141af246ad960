/// Sizes that the format fixes. A length read from a file is checked against these, and against the bytes that remain,
/// before anything is allocated.
public enum Limits {
  /// A key is 1 to 1,024 bytes.
  public static let keyBytes = 1024
  /// A frame's payload is at most 64 MiB.
  public static let payloadBytes = 64 << 20
  /// A batch, frames included, is at most 1 GiB.
  public static let batchBytes = 1 << 30
  /// What a batch leaves of that: a mark goes in front of it, and a snapshot keeps long values in smaller frames.
  static let batchReserve = 64 << 10
  /// Waiting batches are written together up to about this many bytes.
  static let groupBytes = 8 << 20
  /// Bytes in front of a payload.
  static let frameOverhead = 9
  /// How many operations may have begun in so many bytes that a cut has left or taken, and which need not hold whole frames.
  static func operations(begunIn bytes: UInt64) -> UInt64 {
    let frame = UInt64(frameOverhead)
    return bytes / frame + (bytes % frame == 0 ? 0 : 1)
  }
  /// Bytes of a journal's or snapshot's header.
  static let headerBytes = 128
  /// No header, mark or loss names an LSN or a count above this, so that no sum of a few can overflow.
  static let lsn: UInt64 = 1 << 62
  /// A page that stands beyond this LSN is not written to: what it says of LSNs cannot be true.
  static let writableLSN: UInt64 = 1 << 61
}
