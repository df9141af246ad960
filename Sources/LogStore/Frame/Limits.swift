/// Sizes that the format fixes. A length read from a file is checked against these, and against the bytes that remain,
/// before anything is allocated.
public enum Limits {
  /// A key is 1 to 1,024 bytes.
  public static let keyBytes = 1024
  /// A frame's payload is at most 64 MiB.
  public static let payloadBytes = 64 << 20
  /// A batch, frames included, is at most 1 GiB.
  public static let batchBytes = 1 << 30
  /// Waiting batches are written together up to about this many bytes.
  static let groupBytes = 8 << 20
  /// Bytes in front of a payload.
  static let frameOverhead = 9
  /// Bytes of a journal's or snapshot's header.
  static let headerBytes = 128
}
