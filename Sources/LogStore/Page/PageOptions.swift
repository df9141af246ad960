/// How a page is opened and kept.
public struct PageOptions: Sendable {
  /// The durability of writes that name none.
  public var durability: Durability = .power
  /// What opening does about damage; nil for ``RecoveryPolicy/salvage``, or ``RecoveryPolicy/pointInTime`` where the
  /// page holds an application's own state.
  public var policy: RecoveryPolicy?
  /// What compaction leaves of the past.
  public var retention: Retention = .previous
  /// When compaction starts by itself.
  public var compaction: CompactionPolicy = CompactionPolicy()
  /// Whether snapshots deflate their records where a probe shows that it saves.
  public var compression: Compression = .none
  /// The most memory that verified pieces of the snapshot's tables and blocks may take; they take it as they are read.
  ///
  /// The tables of 1,000,000 records take 7 to 9 MiB here, or half as much as long as only a part of them is asked for. A
  /// look-up then reads the file once, and otherwise up to three times. Where blocks are deflated, they take one half, and
  /// the tables the other.
  public var cacheBytes = 8 << 20
  /// Accept a file system over the network, where the lock excludes nobody.
  public var allowsNetworkFileSystems = false
  /// Accept a file system that cannot flush its drive, or cannot sync a directory; ``Page/durability`` then says what it gives.
  public var acceptsWeakerDurability = false
  /// The engine syncs by itself, beside the writers, at this many bytes of writes that a power cut may take, which it
  /// keeps in memory meanwhile; never for the sake of bytes, where it is `Int.max` …
  public var syncAfterBytes: Int = 8 << 20
  /// … or when the oldest of them is this old; never, where that is longer than any `Int64` of nanoseconds.
  public var syncAfter: Duration = .seconds(1)
  /// Receives what happens in the background, in order, on a queue of its own. It may call the page. `close()` returns
  /// once everything that happened before has been handed over.
  public var onEvent: (@Sendable (PageEvent) -> Void)?
  /// Receives how far opening has come; returns false to cancel it.
  public var onProgress: ProgressHandler?
  /// Where the bytes go.
  public var storage: any Storage = FileSystemStorage()
  /// Who decides when the engine goes on by itself; nil: the system.
  package var schedule: Schedule?
  /// How a new snapshot is read back beside its writing; nil: as is best. Only tests set it.
  package var readBack: ReadBack?

  public init() {}
}

package struct ReadBack: Sendable {
  /// So much is read at once, of a snapshot that is longer.
  package var bytes: Int
  /// Whether the writer itself reads in between, so that there is one order of calls.
  package var isInline: Bool

  package init(bytes: Int, isInline: Bool = false) {
    self.bytes = bytes
    self.isInline = isInline
  }
}

/// How to open a page.
public enum OpenMode: Sendable {
  /// For writing; creates the page, and the last part of its path, where it is absent.
  case create
  /// For writing; an absent page is an error.
  case readWrite
  /// For reading; takes no lock and changes no byte.
  case readOnly
}

/// What opening does about damage (never about a torn tail, which is normal after a crash).
public enum RecoveryPolicy: String, Sendable, CaseIterable {
  /// Throws.
  case strict
  /// Drops the damaged batches, keeps the rest, and records the loss.
  case salvage
  /// Stops in front of the first damage.
  case pointInTime
}

/// What compaction leaves of the past.
public enum Retention: Sendable, Hashable {
  /// Nothing before the new snapshot.
  case none
  /// The last verified snapshot before the new one, and every journal since, to fall back on. What was needed within the
  /// last ten minutes stays as well, so that a copy under way finds it.
  case previous
  /// That many snapshots before the new one.
  case count(Int)
  /// The full history.
  case all
}

/// When compaction starts by itself. All limits count what was written since the snapshot.
public struct CompactionPolicy: Sendable, Hashable {
  public var isAutomatic = true
  /// At least this many bytes of journal …
  public var minimumBytes: UInt64 = 4 << 20
  /// … and this many hundredths of the snapshot's size.
  public var percentOfSnapshot: UInt64 = 100
  /// Or this many journals on the chain.
  public var journals = 8
  /// Compact at close when anything was written since the snapshot; a compaction that runs is waited for first. The page is
  /// closed also where that fails, and no write is lost; `close()` then throws, unless there was only no room, no
  /// permission, or another compaction.
  public var atClose = false

  public init() {}

  /// Only when asked.
  public static var manual: CompactionPolicy {
    var policy = CompactionPolicy()
    policy.isAutomatic = false
    return policy
  }
}

public enum Compression: Sendable, Hashable {
  case none
  case deflate
}

/// How far a long operation has come.
public struct Progress: Sendable, Hashable {
  public enum Phase: String, Sendable { case replaying, writing, checking, verifying, copying }
  public var phase: Phase
  public var completedBytes: UInt64
  /// What there is to do; nil if unknown.
  public var totalBytes: UInt64?

  public init(_ phase: Phase, completedBytes: UInt64, totalBytes: UInt64?) {
    self.phase = phase
    self.completedBytes = completedBytes
    self.totalBytes = totalBytes
  }
}

/// Receives progress every few MiB; returns false to cancel.
public typealias ProgressHandler = @Sendable (Progress) -> Bool

/// What happens in the background.
public enum PageEvent: Sendable {
  case compactionStarted(generation: UInt64)
  case compactionFinished(CompactionSummary)
  /// The next try is not before `retryAfter` has passed.
  case compactionFailed(LogStoreError, retryAfter: Duration)
  /// A compaction could not remove a file that is no longer needed, or could not tell whether one is; the next one tries
  /// again.
  case removalFailed(LogStoreError)
  /// A write or sync failed; the page refuses writes until `recover()`.
  case poisoned(LogStoreError)
  /// Bytes that recovery dropped could not be set aside yet.
  case quarantineFailed(LogStoreError)
  /// A record of the snapshot did not verify and was served from the kept generation.
  case healed(Finding)
}

/// What a compaction did, or would do.
public struct CompactionSummary: Sendable, Hashable {
  /// The generation of the new snapshot.
  public var generation: UInt64 = 0
  public var lsn: UInt64 = 0
  public var records: UInt64 = 0
  /// Bytes of the new snapshot; for a dry run, an estimate from the live records' sizes.
  public var snapshotBytes: UInt64 = 0
  /// Bytes of the page's directory before and after.
  public var bytesBefore: UInt64 = 0
  public var bytesAfter: UInt64 = 0
  /// Names of the files removed (or to be removed).
  public var removedFiles: [String] = []
  /// Names of older files kept.
  public var keptFiles: [String] = []

  public init() {}
}
