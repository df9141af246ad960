/// What an acknowledged write survives.
public enum Durability: Int, Comparable, Sendable, CaseIterable {
  /// The process: the bytes are handed to the kernel. A power cut may cost the last second or 8 MiB.
  case process = 0
  /// A crash of the system, in order: later writes never survive without earlier ones. `F_BARRIERFSYNC` on Apple
  /// systems; elsewhere the same as ``power``.
  case ordered = 1
  /// A power cut. `F_FULLFSYNC` on Apple systems, `fdatasync` elsewhere.
  case power = 2

  public static func < (left: Durability, right: Durability) -> Bool { left.rawValue < right.rawValue }
}
