internal import Synchronization

/// A snapshot opened for reading, used in place: what is read is verified when it is read. Immutable; safe from many
/// threads.
final class SnapshotReader: RecordBase {
  let source: SnapshotSource
  let name: String
  let header: SnapshotHeader
  let footer: SnapshotFooter
  /// Frames of both tables, packed.
  let tables: FrameCache
  /// Inflated blocks. A cache of their own, since they are large and asked for no more often than the others.
  let blocks: FrameCache
  /// Whether a block was met; until then nothing is searched for among the inflated ones, and the tables may take all.
  let hasBlocks = Atomic<Bool>(false)
  /// Has something run beside a long sweep, on another thread; nil where the sweep is to do all itself.
  let startHelper: HelperStart?

  /// Reads and verifies header and footer. Takes over `file`, also where it throws. `status` is the file's, if it is
  /// known.
  init(
    file: any StorageFile, status known: FileStatus? = nil, name: String, path: String, generation: UInt64,
    cacheBytes: Int, startHelper: HelperStart? = .system
  ) throws(LogStoreError) {
    var isOpen = false
    defer { if !isOpen { file.close() } }
    let status: FileStatus
    if let known {
      status = known
    } else {
      do { status = try file.status() } catch { throw LogStoreError(error) }
    }
    // Until the header is read the salt is not known, and no frame is checked.
    var source = SnapshotSource(file: file, path: path, size: status.size, codec: FrameCodec(salt: 0))
    let first = try source.bytes(at: 0, count: Int(min(status.size, UInt64(Limits.headerBytes))))
    switch first.lend(0..<first.count, { SnapshotHeader.decode($0, generation: generation) }) {
    case .header(let header): self.header = header
    case .damaged(let what): throw source.damaged(0, what)
    case .newer: throw .newerSnapshot(path, 0)
    case .foreign:
      throw LogStoreError(
        .foreignFile, "the file is no snapshot of LogStore, or its first bytes are damaged", path: path, offset: 0)
    }
    source = SnapshotSource(file: file, path: path, size: status.size, codec: FrameCodec(salt: header.salt))
    let frameBytes = SnapshotLayout.footerFrameBytes
    guard status.size >= UInt64(Limits.headerBytes + frameBytes) else {
      throw source.damaged(status.size, "the file ends before its footer")
    }
    let offset = status.size - UInt64(frameBytes)
    let last = try source.bytes(at: offset, count: frameBytes)
    guard case .good(let type, SnapshotFooter.payloadBytes) = source.codec.check(last, offset: offset),
      type == FrameType(.footer)
    else { throw source.damaged(offset, "the file does not end in its footer") }
    footer = last.lend(Limits.frameOverhead..<frameBytes) { SnapshotFooter(decoding: $0) }
    if let fault = footer.fault(header: header, offset: offset) { throw source.damaged(offset, fault) }
    self.source = source
    self.name = name
    self.startHelper = startHelper
    tables = FrameCache(bytes: cacheBytes)
    blocks = FrameCache(bytes: cacheBytes / 2)
    isOpen = true
  }

  deinit { source.file.close() }

  /// Records; 0 where the state is an application's own.
  var count: Int { header.state == 0 ? Int(footer.count) : 0 }

  /// Bytes of the file.
  var size: UInt64 { source.size }

  var path: String { source.path }

  /// Where the footer begins.
  var footerOffset: UInt64 { size - UInt64(SnapshotLayout.footerFrameBytes) }

  /// What earlier recoveries have dropped.
  func losses() throws(LogStoreError) -> [LossRecord] {
    var losses: [LossRecord] = []
    let window = FrameWindow(source)
    var offset = UInt64(Limits.headerBytes)
    while offset < footer.recordsOffset {
      guard let frame = try window.frame(at: offset, limit: footer.recordsOffset), frame.type == FrameType(.loss),
        let loss = window.buffer.lend(frame.payload, { LossRecord(decoding: $0) })
      else { throw source.damaged(offset, "a recorded loss does not verify") }
      losses.append(loss)
      offset = frame.end
    }
    return losses
  }
}
