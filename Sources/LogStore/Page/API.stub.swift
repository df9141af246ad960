// TEMPORARY: the shape of the public face, so that its users can be written before it works.
public final class Page: Sendable {
  public let path: String
  /// `at`: with .readOnly, the state as it was.
  public init(path: String, mode: OpenMode = .create, options: PageOptions = PageOptions(), at: Moment = .now)
    throws(LogStoreError)
  { fatalError() }
  public var id: PageID { fatalError() }
  public var report: RecoveryReport { fatalError() }
  public var position: Position { fatalError() }
  public var durablePosition: Position { fatalError() }
  public var durability: Durability { fatalError() }
  @discardableResult
  public func write(_ batch: WriteBatch, durability: Durability? = nil, expecting: Position? = nil)
    throws(LogStoreError) -> Position
  { fatalError() }
  public func view() throws(LogStoreError) -> PageView { fatalError() }
  @discardableResult
  public func sync() throws(LogStoreError) -> Position { fatalError() }
  @discardableResult
  public func compact(keep: Retention? = nil, progress: ProgressHandler? = nil) throws(LogStoreError)
    -> CompactionSummary
  { fatalError() }
  /// What compact() would free.
  public func compactionEstimate(keep: Retention? = nil) throws(LogStoreError) -> CompactionSummary { fatalError() }
  /// Drops the recorded losses (a compaction that does not hand them down); returns those dropped.
  public func forgetLosses(progress: ProgressHandler? = nil) throws(LogStoreError) -> [Finding] { fatalError() }
  public func recover() throws(LogStoreError) { fatalError() }
  public func suspend() throws(LogStoreError) { fatalError() }
  public func resume() throws(LogStoreError) { fatalError() }
  public func close() throws(LogStoreError) { fatalError() }
}

public struct PageView: Sendable {
  public var count: Int { fatalError() }
  public var position: Position { fatalError() }
  public func value(for key: some ByteSource) throws(LogStoreError) -> [UInt8]? { fatalError() }
  public func contains(_ key: some ByteSource) throws(LogStoreError) -> Bool { fatalError() }
  public func index(of key: some ByteSource) throws(LogStoreError) -> Int? { fatalError() }
  public func record(at index: Int) throws(LogStoreError) -> Record { fatalError() }
  /// Calls `body` with key and value of each record in page order. The spans are valid during the call only. Return false to stop.
  public func forEach(in range: Range<Int>? = nil, _ body: (_ key: RawSpan, _ value: RawSpan) throws -> Bool) throws {
    fatalError()
  }
}

public struct Record: Sendable, Hashable {
  public var key: [UInt8]
  public var value: [UInt8]
}

/// Reads a page's files without opening it for use: takes no lock, changes no byte, safe on a page in use.
public struct PageInspector: Sendable {
  public init(path: String, storage: any Storage = FileSystemStorage()) { fatalError() }
  /// Reads every byte of every generation, with the reader that opening uses.
  public func verify(progress: ProgressHandler? = nil) throws(LogStoreError) -> VerificationReport { fatalError() }
  /// Calls `body` with every frame of every kept journal of the chain, oldest first, up to and including `to`. Return false to stop.
  public func frames(
    from: UInt64 = 0, to: UInt64 = .max, progress: ProgressHandler? = nil, _ body: (FrameInfo) throws -> Bool
  ) throws { fatalError() }
  /// Copies everything readable into a new page at `destination`, around read errors and damage.
  public func salvage(to destination: String, options: PageOptions = PageOptions(), progress: ProgressHandler? = nil)
    throws(LogStoreError) -> SalvageReport
  { fatalError() }
  /// Paths of the pages at or under `path`: itself if it is one, otherwise its direct subdirectories that are pages, sorted.
  public static func pages(at path: String, storage: any Storage = FileSystemStorage()) throws(LogStoreError)
    -> [String]
  { fatalError() }
}

public struct FrameInfo: Sendable, Hashable {
  /// The LSN of the operation, or of the last operation before a frame that is none.
  public var lsn: UInt64
  public var generation: UInt64
  public var offset: UInt64
  /// Length of the payload in bytes.
  public var length: UInt32
  public var kind: FrameKind
  public var isFirst: Bool
  public var isLast: Bool
  public var key: [UInt8]?
  /// For marks: nanoseconds since 1970, durable end, closed.
  public var mark: MarkInfo?
}

public struct MarkInfo: Sendable, Hashable {
  public var lsn: UInt64
  public var durableEnd: UInt64
  public var nanoseconds: Int64
  public var isClosed: Bool
}

public struct VerificationReport: Sendable, Hashable {
  /// What opening would report, plus what only reading everything shows.
  public var recovery: RecoveryReport
  public var findings: [Finding]
  public var files: Int
  public var bytes: UInt64
  public var frames: UInt64
  public var severity: Finding.Severity? { findings.lazy.map(\.severity).max() }
}

public struct SalvageReport: Sendable, Hashable {
  public var records: UInt64
  public var bytes: UInt64
  /// What could not be read, or was dropped.
  public var findings: [Finding]
  public var path: String
}
