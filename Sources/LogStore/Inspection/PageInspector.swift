/// Reads a page's files without opening it for use: takes no lock, changes no byte, safe on a page in use.
public struct PageInspector: Sendable {
  public let path: String
  let storage: any Storage

  public init(path: String, storage: any Storage = FileSystemStorage()) {
    self.path = path
    self.storage = storage
  }

  private static let attempts = 16

  /// Reads every byte of every generation, with the reader that opening uses.
  ///
  /// - Throws: what opening read-only throws where there is no state to speak of; damage is a finding, not an error.
  public func verify(progress: ProgressHandler? = nil) throws(LogStoreError) -> VerificationReport {
    try withFiles { (files) throws(LogStoreError) in
      var verification = Verification(files: files, progress: progress)
      return try verification.run()
    }
  }

  /// Calls `body` with every frame of every kept journal that leads to the present state, oldest first, until it
  /// returns false.
  ///
  /// - Parameters:
  ///   - first: the lowest LSN to show.
  ///   - last: the highest; where it is below `first`, there is nothing to show.
  ///   - progress: called every few MiB; returns false to cancel.
  ///   - body: receives each frame; returns false to stop.
  public func frames(
    from first: UInt64 = 0, to last: UInt64 = .max, progress: ProgressHandler? = nil, _ body: (FrameInfo) throws -> Bool
  ) throws {
    let listing = try withFiles { (files) throws(LogStoreError) in
      try FrameListing(files: files, first: first, last: last, progress: progress)
    }
    try listing.run(body)
  }

  /// The pages at `path`: itself if it is one, otherwise the directories directly inside that are, sorted. What cannot be
  /// looked into comes along: whoever opens it is told why.
  ///
  /// - Throws: `notFound` where there is no directory; an empty list means that there is no page.
  public static func pages(
    at path: String, storage: any Storage = FileSystemStorage()
  ) throws(LogStoreError) -> [String] {
    let directory = try open(path, storage)
    defer { directory.close() }
    let names = try mapped { () throws(StorageError) in try directory.list() }
    if PageListing(names).highest != nil { return [path] }
    var pages: [String] = []
    for name in names.sorted() {
      guard let status = try mapped({ () throws(StorageError) in try directory.status(of: name) }) else {
        // Removed meanwhile, or, where it stays, a name that is not UTF-8: not to be passed over, for it may be a page.
        let isStill = try mapped { () throws(StorageError) in try directory.list().contains(name) }
        if isStill { pages.append(path + "/" + name) }
        continue
      }
      guard status.kind == .directory else { continue }
      let inner: any StorageDirectory
      do {
        inner = try storage.openDirectory(path + "/" + name, create: false)
      } catch  where error.isUnavailable {
        // Whether it is a page cannot be told: whoever opens it is told why.
        pages.append(path + "/" + name)
        continue
      } catch  where error.errno == StorageError.notFound {
        continue
      } catch {
        throw LogStoreError(error)
      }
      defer { inner.close() }
      if PageListing(try mapped { () throws(StorageError) in try inner.list() }).highest != nil {
        pages.append(path + "/" + name)
      }
    }
    return pages
  }

  static func open(_ path: String, _ storage: any Storage) throws(LogStoreError) -> any StorageDirectory {
    var options = PageOptions()
    options.storage = storage
    return try PageOpener(path: path, mode: .readOnly, options: options).openDirectory()
  }

  /// Runs `body` over the page's files, again where they have changed under it.
  private func withFiles<Result>(
    _ body: (PageFiles) throws(LogStoreError) -> Result
  ) throws(LogStoreError) -> Result {
    let directory = try PageInspector.open(path, storage)
    defer { directory.close() }
    var attempt = 1
    while true {
      let files = try PageFiles(directory, cacheBytes: PageOptions().cacheBytes)
      func hasChanged() throws(LogStoreError) -> Bool {
        try PageListing(mapped { () throws(StorageError) in try directory.list() }) != files.listing
      }
      do throws(LogStoreError) {
        let result = try body(files)
        if attempt < PageInspector.attempts, try hasChanged() {
          attempt += 1
          continue
        }
        return result
      } catch {
        guard attempt < PageInspector.attempts, error.code != .cancelled, try hasChanged() else { throw error }
        attempt += 1
      }
    }
  }
}

/// What verifying a page found.
public struct VerificationReport: Sendable, Hashable {
  /// What opening would report.
  public var recovery: RecoveryReport
  /// That, and what only reading everything shows.
  public var findings: [Finding]
  public var files: Int
  public var bytes: UInt64
  /// Frames that verified.
  public var frames: UInt64

  /// The worst of the findings; nil if there is none.
  public var severity: Finding.Severity? { findings.lazy.map(\.severity).max() }
}
