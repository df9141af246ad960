/// What a disk may do with effects that were not synced when the power went.
///
/// Everywhere: a sync of a file forces its bytes and its size and not its name; a sync of a directory forces its names;
/// each change of a name happens wholly or not at all; a failed sync leaves the medium as it was, the cache old or new as
/// the ``Fault`` says, and the next sync succeeds without those bytes or names. A sync at `.ordered` is a barrier under ``strict``
/// and ``appleFsync``, and a full sync under the others, as on Linux; a full sync of anything also empties the drive's
/// cache of all that barriers were put behind.
public enum CrashProfile: String, CaseIterable, Sendable, Hashable {
  /// Stricter than any real disk, and the one to pass: any subset of the effects, in any order, over all files and
  /// directories. A write may have grown its file by all its bytes or a part, and of the bytes any pieces may have arrived:
  /// thirds, blocks of 4096, sectors of 512, or up to any single byte. What a file has grown by and did not arrive is
  /// zeros, ones (0xFF), random bytes, what once stood at the same place of the same file, or what a removed file holds
  /// at the same place: whole frames of a deleted journal, for example. Everything the other profiles allow, it allows.
  case strict
  /// ext4, `data=ordered`: changes of names arrive in the order in which they were made, over all directories, and any sync
  /// commits those before it. A file grows in order, and never before its bytes: it ends behind a write or at a block of
  /// 4096. Growth is not ordered against names (allocation is delayed), so a renamed file may be empty. What is
  /// overwritten in place arrives in any order, sector by sector.
  case ordered
  /// ext4, `data=writeback`: names as under ``ordered``; bytes arrive in any order, sector by sector, and files may have grown
  /// before them, showing zeros, ones, random or old bytes.
  case writeback
  /// btrfs: changes of names arrive in any order; a file holds what it held after some of its writes, in order, up to the
  /// end of one or a block of 4096.
  case reorderedNames
  /// APFS on a drive with a cache. `fsync` there hands bytes to the drive and orders nothing on the medium, so it appears
  /// here as no sync at all, as `.process` does. `.ordered` is `F_BARRIERFSYNC`: what was made after the barrier is never on
  /// the medium without what the barrier was put behind, which may be missing with it. `.power` is `F_FULLFSYNC`, of
  /// files and of directories. Names arrive in any order, bytes in any order, sector by sector; what a file has grown by
  /// shows zeros or old bytes.
  case appleFsync

  /// Whether changes of names arrive in order.
  var ordersNames: Bool { self == .ordered || self == .writeback }

  /// Whether a sync at `.ordered` promises that its bytes survive a power cut, and not only that nothing later does without
  /// them.
  public var orderedSyncsAreDurable: Bool { self != .strict && self != .appleFsync }

  /// How the bytes of a file's growth arrive.
  var growth: Growth {
    switch self {
    case .strict: .anywhere
    case .writeback, .appleFsync: .sectors
    case .ordered, .reorderedNames: .inOrder
    }
  }

  enum Growth { case anywhere, sectors, inOrder }
}
