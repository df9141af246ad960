/// The files of a page's directory, opened as the chain asks for them and kept open; or only looked at.
final class PageFiles {
  let directory: any StorageDirectory
  let listing: PageListing
  /// Asked now and then while it takes long to find out what a file is; false cancels.
  var goesOn: (() -> Bool)?
  private let cacheBytes: Int
  private let startHelper: HelperStart?
  // What was looked at, beside the listing's generations, which are in order. Objects rather than a dictionary: what
  // that needs of the runtime would cost the first opening of a process more than all its reading.
  private let journals: [KnownJournal]
  private let snapshots: [KnownSnapshot]

  /// What stands under the name of a journal or snapshot.
  enum Candidate<File> {
    case usable(File)
    /// There is nothing.
    case absent
    /// It does not verify.
    case damaged(Damage)
    /// A directory, a device, a link.
    case notAFile

    var file: File? { if case .usable(let file) = self { file } else { nil } }

    func map<Other>(_ body: (File) -> Other) -> Candidate<Other> {
      switch self {
      case .usable(let file): .usable(body(file))
      case .absent: .absent
      case .damaged(let damage): .damaged(damage)
      case .notAFile: .notAFile
      }
    }
  }

  /// Why a file does not verify, whether it at least begins as such a file does, whose it is if its header tells, and how
  /// long it is. An object, so that handing a candidate around, as good ones are, is one count.
  final class Damage: Sendable {
    let error: LogStoreError
    let hasMagic: Bool
    let id: PageID?
    let size: UInt64

    init(_ error: LogStoreError, hasMagic: Bool, id: PageID?, size: UInt64) {
      self.error = error
      self.hasMagic = hasMagic
      self.id = id
      self.size = size
    }
  }

  init(
    _ directory: any StorageDirectory, cacheBytes: Int,
    startHelper: HelperStart? = .system
  ) throws(LogStoreError) {
    self.directory = directory
    self.cacheBytes = cacheBytes
    self.startHelper = startHelper
    listing = PageListing(try mapped { () throws(StorageError) in try directory.list() })
    journals = listing.journals.map { KnownJournal($0) }
    snapshots = listing.snapshots.map { KnownSnapshot($0) }
  }

  private final class KnownJournal {
    let generation: UInt64
    var candidate: Candidate<JournalFile>?
    /// What was seen of it without keeping it open.
    var sight: JournalSight?
    init(_ generation: UInt64) { self.generation = generation }
  }

  private final class KnownSnapshot {
    let generation: UInt64
    var candidate: Candidate<SnapshotReader>?
    init(_ generation: UInt64) { self.generation = generation }
  }

  /// Where `generation` is among numbers in order.
  private func place(of generation: UInt64, in numbers: [UInt64]) -> Int? {
    var (low, high) = (0, numbers.count)
    while low < high {
      let middle = (low + high) / 2
      if numbers[middle] < generation { low = middle + 1 } else { high = middle }
    }
    return low < numbers.count && numbers[low] == generation ? low : nil
  }

  func path(_ name: String) -> String { directory.path(of: name) }

  /// Journal `generation`, with its header as it stands there, not rebuilt.
  ///
  /// - Parameter isKept: whether it stays open here; otherwise it is open for as long as the caller has it.
  func journal(_ generation: UInt64, isKept: Bool = true) throws(LogStoreError) -> Candidate<JournalFile> {
    // Of a file that is not listed nothing is noted: there was none when the listing was made.
    guard let place = place(of: generation, in: listing.journals) else { return try openJournal(generation) }
    if let known = journals[place].candidate { return known }
    let found = try openJournal(generation)
    if isKept || found.file == nil { journals[place].candidate = found }
    return found
  }

  /// What journal `generation` says of itself. Its file is closed again: however many are looked at, none stays open.
  func look(atJournal generation: UInt64) throws(LogStoreError) -> Candidate<JournalSight> {
    let known = place(of: generation, in: listing.journals).map { journals[$0] }
    if let known, known.candidate == nil, let sight = known.sight { return .usable(sight) }
    let found = try journal(generation, isKept: false).map { JournalSight($0) }
    known?.sight = found.file
    return found
  }

  private func openJournal(_ generation: UInt64) throws(LogStoreError) -> Candidate<JournalFile> {
    let name = PageFile.journal(generation).name
    let (file, status): (any StorageFile, FileStatus)
    switch try open(name) {
    case .file(let opened, let itsStatus): (file, status) = (opened, itsStatus)
    case .absent: return .absent
    case .notAFile: return .notAFile
    }
    let bytes = try head(of: file, path(name))
    let header = unsafe JournalHeader(bytes.bytes, generation: generation)
    switch unsafe FileHeader.judge(bytes.bytes, magic: FileHeader.journalMagic) {
    case .good:
      guard let header else { fallthrough }
      return .usable(JournalFile(name: name, path: path(name), file: file, header: header, status: status))
    case .damaged:
      file.close()
      let error = LogStoreError(.damaged, "the journal's header does not verify", path: path(name), offset: 0)
      let id = unsafe FileHeader.identity(bytes.bytes, magic: FileHeader.journalMagic)
      return .damaged(Damage(error, hasMagic: true, id: id, size: status.size))
    case .foreign:
      file.close()
      let error = LogStoreError(
        .foreignFile, "the file is no journal of LogStore; move it out of the page's directory", path: path(name),
        offset: 0)
      return .damaged(Damage(error, hasMagic: false, id: nil, size: status.size))
    case .newer:
      file.close()
      throw LogStoreError(
        .newerVersion, "the journal was written by a newer version of LogStore; update", path: path(name))
    }
  }

  /// Snapshot `generation`, its header and footer verified. `isKept` as for a journal.
  func snapshot(_ generation: UInt64, isKept: Bool = true) throws(LogStoreError) -> Candidate<SnapshotReader> {
    guard let place = place(of: generation, in: listing.snapshots) else { return try openSnapshot(generation) }
    if let known = snapshots[place].candidate { return known }
    let found = try openSnapshot(generation)
    if isKept || found.file == nil { snapshots[place].candidate = found }
    return found
  }

  /// The header of snapshot `generation`, where header and footer verify. Its file is closed again.
  func look(atSnapshot generation: UInt64) throws(LogStoreError) -> Candidate<SnapshotHeader> {
    try snapshot(generation, isKept: false).map(\.header)
  }

  private func openSnapshot(_ generation: UInt64) throws(LogStoreError) -> Candidate<SnapshotReader> {
    let name = PageFile.snapshot(generation).name
    let (file, status): (any StorageFile, FileStatus)
    switch try open(name) {
    case .file(let opened, let itsStatus): (file, status) = (opened, itsStatus)
    case .absent: return .absent
    case .notAFile: return .notAFile
    }
    do {
      return .usable(
        try SnapshotReader(
          file: file, status: status, name: name, path: path(name), generation: generation, cacheBytes: cacheBytes,
          startHelper: startHelper))
    } catch {
      guard error.code == .damaged || error.code == .foreignFile else { throw error }
      let head = try again(name)
      let id = unsafe FileHeader.identity(head.bytes, magic: FileHeader.snapshotMagic)
      return .damaged(Damage(error, hasMagic: error.code == .damaged, id: id, size: status.size))
    }
  }

  /// The first bytes of a file whose reader has failed, and closed it.
  private func again(_ name: String) throws(LogStoreError) -> ByteBuffer {
    guard case .file(let file, _) = try open(name) else { return ByteBuffer() }
    defer { file.close() }
    return try head(of: file, path(name))
  }

  /// Puts a journal with a rebuilt header in the place of one that does not verify.
  func adopt(_ journal: JournalFile) {
    if let place = place(of: journal.generation, in: listing.journals) { journals[place].candidate = .usable(journal) }
  }

  /// What opening a file of the page comes to.
  enum Opened {
    case file(any StorageFile, FileStatus)
    case absent
    /// A directory, a device, a link: nobody opens it.
    case notAFile
  }

  /// Opens a file of the page.
  func open(_ name: String) throws(LogStoreError) -> Opened {
    guard let named = try mapped({ () throws(StorageError) in try directory.status(of: name) }) else { return .absent }
    guard named.kind == .file else { return .notAFile }
    do {
      let file = try directory.open(name, .read)
      return .file(file, try file.status())
    } catch  where error.errno == StorageError.notFound {
      return .absent
    } catch {
      throw LogStoreError(error)
    }
  }

  /// The first bytes of a file, as many of a header's as there are.
  func head(of file: any StorageFile, _ path: String) throws(LogStoreError) -> ByteBuffer {
    let buffer = ByteBuffer(capacity: Limits.headerBytes)
    let room = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer.storage[..<Limits.headerBytes])
    buffer.count = try mapped(offset: 0) { () throws(StorageError) in try unsafe file.readFully(into: room, at: 0) }
    return buffer
  }
}
