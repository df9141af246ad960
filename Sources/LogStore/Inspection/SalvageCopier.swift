internal import Synchronization

/// Writes what a salvage reads into a new page.
final class SalvageCopier {
  private enum Target {
    case records(PageCore<RecordModel>)
    case application(PageCore<FrameModel>)
  }

  private let target: Target
  private var holdsApplicationState: Bool {
    if case .application = target { return true }
    return false
  }
  private let options: PageOptions
  private let progress: ProgressHandler?
  private(set) var bytes: UInt64 = 0
  private var frames: UInt64 = 0
  private var reported: UInt64 = 0
  private var batch = WriteBatch()
  /// The open batch of the source, which counts only when it is whole.
  private var open = WriteBatch()
  private var part = ByteBuffer()

  private static let batchBytes = 1 << 20

  init(to path: String, state: UInt32, options: PageOptions, progress: ProgressHandler?) throws(LogStoreError) {
    self.options = options
    self.progress = progress
    if let status = try SalvageCopier.listing(path, options.storage), !status.isEmpty {
      throw LogStoreError(.cannotCreate, "there is something at the new page's place; choose another", path: path)
    }
    target =
      state == 0
      ? .records(try PageCore(path: path, mode: .create, options: options, at: .now) { RecordModel() })
      : .application(try PageCore(path: path, mode: .create, options: options, at: .now) { FrameModel(state) })
  }

  private static func listing(_ path: String, _ storage: any Storage) throws(LogStoreError) -> [String]? {
    do throws(StorageError) {
      let directory = try storage.openDirectory(path, create: false)
      defer { directory.close() }
      return try directory.list()
    } catch {
      if error.errno == StorageError.notFound { return nil }
      throw LogStoreError(
        .cannotCreate, "the new page's place cannot be used: \(error.reason)", path: path, errno: error.errno,
        cause: error)
    }
  }

  func put(_ key: RawSpan, _ value: RawSpan) throws(LogStoreError) {
    try batch.put(span: value, forSpan: key)
    try note(key.byteCount + value.byteCount)
  }

  func application(_ kind: FrameKind, _ payload: RawSpan) throws(LogStoreError) {
    try batch.append(kind, span: payload)
    try note(payload.byteCount)
  }

  /// Takes a frame of the open batch.
  func add(_ frame: JournalFrame) throws(LogStoreError) {
    if frame.kind == .part {
      unsafe part.append(frame.payload)
      return
    }
    defer { part.count = 0 }
    // A frame of the other kind of state changes nothing, and has no place in the copy.
    guard frame.kind.isApplication == holdsApplicationState else { return }
    try open.add(frame, behind: part)
  }

  func endBatch() throws(LogStoreError) {
    if batch.byteCount + open.byteCount > SalvageCopier.batchBytes { try flush() }
    let size = open.byteCount
    try batch.append(contentsOf: open)
    open.removeAll()
    try note(size)
  }

  func dropBatch() {
    open.removeAll()
    part.count = 0
  }

  private func note(_ count: Int) throws(LogStoreError) {
    bytes += UInt64(count)
    frames += 1
    if batch.byteCount >= SalvageCopier.batchBytes { try flush() }
    guard bytes - reported >= 4 << 20 else { return }
    reported = bytes
    try checkGoesOn()
  }

  /// Tells how far the copy has come, and asks whether to go on: also where there is nothing to copy for long.
  func goesOn() -> Bool { progress?(Progress(.copying, completedBytes: bytes, totalBytes: nil)) ?? true }

  func checkGoesOn() throws(LogStoreError) {
    if !goesOn() { throw LogStoreError(.cancelled, "the salvage was cancelled; what was copied is removed") }
  }

  private func flush() throws(LogStoreError) {
    guard !batch.isEmpty else { return }
    switch target {
    case .records(let page): _ = try page.write(batch, .process, nil)
    case .application(let page): _ = try page.write(batch, .process, nil)
    }
    batch.removeAll()
  }

  /// Closes the new page; returns how many records it has.
  func finish() throws(LogStoreError) -> UInt64 {
    try flush()
    switch target {
    case .records(let page):
      let count = try page.view().count
      try page.close()
      return UInt64(count)
    case .application(let page):
      try page.close()
      return frames
    }
  }

  /// Removes what was begun.
  func abandon() {
    let directory: any StorageDirectory
    switch target {
    case .records(let page):
      do { try page.close() } catch {}
      directory = page.directory
    case .application(let page):
      do { try page.close() } catch {}
      directory = page.directory
    }
    do {
      let again = try options.storage.openDirectory(directory.path, create: false)
      defer { again.close() }
      for name in try again.list() where PageName(name) != nil { try again.remove(name) }
    } catch {
      // What stays is a page that was not finished; the error that led here says more.
    }
  }
}

/// A model for frames that only their application understands.
final class FrameModel: PageModel {
  static var isApplication: Bool { true }
  let state: UInt32
  init(_ state: UInt32) { self.state = state }
  func rebase(onto base: SnapshotBase?) throws(LogStoreError) {}
  func replay(_ walk: inout JournalWalk, file: Int) throws(LogStoreError) {
    var sink = BlindSink()
    try walk.run(&sink)
  }
}
