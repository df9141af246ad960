/// What opening a page found and did.
public struct RecoveryReport: Sendable, Hashable {
  /// Everything out of the ordinary, in the order of the log.
  public var findings: [Finding] = []
  /// The generation of the snapshot the state started from; nil if from an empty page.
  public var snapshotGeneration: UInt64?
  /// The generation of the newest journal of the chain; nil if there is none.
  public var journalGeneration: UInt64?
  /// The position of the state.
  public var position = Position(salt: 0, lsn: 0)
  /// Records in the snapshot.
  public var snapshotRecords: UInt64 = 0
  /// Journals, batches, operations and bytes read after the snapshot.
  public var journals = 0
  public var batches: UInt64 = 0
  public var operations: UInt64 = 0
  public var bytes: UInt64 = 0
  /// Whether the state ends before a gap (missing bytes) although later files exist.
  public var isIncomplete = false

  public init() {}

  /// The worst of the findings; nil if there is none.
  public var severity: Finding.Severity? { findings.lazy.map(\.severity).max() }
  /// Whether something that had been durable is damaged, missing or lost.
  public var hasDamage: Bool { severity == .damage }
}
