/// The files of a page's directory, opened as the chain asks for them and kept open.
final class PageFiles {
  let directory: any StorageDirectory
  let listing: PageListing
  private let cacheBytes: Int
  private var journals: [UInt64: Candidate<JournalFile>] = [:]
  private var snapshots: [UInt64: Candidate<SnapshotReader>] = [:]

  /// What stands under the name of a journal or snapshot.
  enum Candidate<File> {
    case usable(File)
    /// There is nothing.
    case absent
    /// It does not verify; why, and whether it at least begins like such a file.
    case damaged(LogStoreError, hasMagic: Bool, size: UInt64)
    /// A directory, a device, a link.
    case notAFile

    var file: File? { if case .usable(let file) = self { file } else { nil } }
  }

  init(_ directory: any StorageDirectory, cacheBytes: Int) throws(LogStoreError) {
    self.directory = directory
    self.cacheBytes = cacheBytes
    listing = PageListing(try mapped { () throws(StorageError) in try directory.list() })
  }

  func path(_ name: String) -> String {
    directory.path.hasSuffix("/") ? directory.path + name : directory.path + "/" + name
  }

  /// Journal `generation`, with its header as it stands there, not rebuilt.
  func journal(_ generation: UInt64) throws(LogStoreError) -> Candidate<JournalFile> {
    if let known = journals[generation] { return known }
    let found = try openJournal(generation)
    journals[generation] = found
    return found
  }

  private func openJournal(_ generation: UInt64) throws(LogStoreError) -> Candidate<JournalFile> {
    let name = PageFile.journal(generation).name
    guard let (file, status) = try open(name) else { return .absent }
    guard status.kind == .file else { return .notAFile }
    let bytes = try head(of: file, path(name))
    let header = unsafe JournalHeader(bytes.bytes, generation: generation)
    switch unsafe FileHeader.judge(bytes.bytes, magic: FileHeader.journalMagic) {
    case .good:
      guard let header else { fallthrough }
      return .usable(JournalFile(name: name, path: path(name), file: file, header: header, status: status))
    case .damaged:
      file.close()
      let error = LogStoreError(.damaged, "the journal's header does not verify", path: path(name), offset: 0)
      return .damaged(error, hasMagic: true, size: status.size)
    case .foreign:
      file.close()
      let error = LogStoreError(
        .foreignFile, "the file is no journal of LogStore; move it out of the page's directory", path: path(name),
        offset: 0)
      return .damaged(error, hasMagic: false, size: status.size)
    case .newer:
      file.close()
      throw LogStoreError(
        .newerVersion, "the journal was written by a newer version of LogStore; update", path: path(name))
    }
  }

  /// Snapshot `generation`, its header and footer verified.
  func snapshot(_ generation: UInt64) throws(LogStoreError) -> Candidate<SnapshotReader> {
    if let known = snapshots[generation] { return known }
    let name = PageFile.snapshot(generation).name
    let found: Candidate<SnapshotReader>
    if let (file, status) = try open(name) {
      if status.kind != .file {
        found = .notAFile
      } else {
        do {
          found = .usable(
            try SnapshotReader(
              file: file, name: name, path: path(name), generation: generation, cacheBytes: cacheBytes))
        } catch {
          guard error.code == .damaged || error.code == .foreignFile else { throw error }
          found = .damaged(error, hasMagic: error.code == .damaged, size: status.size)
        }
      }
    } else {
      found = .absent
    }
    snapshots[generation] = found
    return found
  }

  /// Puts a journal with a rebuilt header in the place of one that does not verify.
  func adopt(_ journal: JournalFile) { journals[journal.generation] = .usable(journal) }

  /// Opens a file of the page; nil if there is none. A directory in its place is opened by nobody.
  func open(_ name: String) throws(LogStoreError) -> (file: any StorageFile, status: FileStatus)? {
    guard let named = try mapped({ () throws(StorageError) in try directory.status(of: name) }) else { return nil }
    guard named.kind == .file else { return (NoFile(), named) }
    do {
      let file = try directory.open(name, .read)
      return (file, try file.status())
    } catch  where error.errno == StorageError.notFound {
      return nil
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

/// Stands where a directory has the name of a file: nothing can be read from it.
private final class NoFile: StorageFile {
  private var refusal: StorageError { StorageError(.open, errno: StorageError.isDirectory, path: "") }
  func status() throws(StorageError) -> FileStatus { throw refusal }
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StorageError) -> Int { throw refusal }
  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StorageError) -> Int { throw refusal }
  func sync(_ level: Durability) throws(StorageError) { throw refusal }
  func dropCache() {}
  func willReadSequentially() {}
  func close() {}
}
