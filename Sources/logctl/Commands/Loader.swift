internal import LogStore
internal import LogctlCore

/// Gathers operations into batches and writes these.
final class Loader {
  private let page: Page
  private let linesPerBatch: UInt64
  private var batch = WriteBatch()
  private var linesInBatch: UInt64 = 0
  private(set) var batches: UInt64 = 0
  /// Operations in the batches that were written.
  private(set) var operations: UInt64 = 0

  init(page: Page, linesPerBatch: UInt64) {
    self.page = page
    self.linesPerBatch = linesPerBatch
  }

  /// Adds operations whose slices point into `buffer`.
  func add(_ operations: [LineOperation], from buffer: UnsafeRawBufferPointer) throws(ImportFailure) {
    for operation in operations {
      do throws(LogStoreError) {
        try unsafe add(operation, from: buffer)
      } catch {
        throw .refused(operation.line, error)
      }
      linesInBatch += 1
      if linesInBatch == linesPerBatch { try write() }
    }
  }

  /// Writes the last batch, which may have fewer lines.
  func finish() throws(ImportFailure) {
    if linesInBatch > 0 { try write() }
  }

  private func write() throws(ImportFailure) {
    do throws(LogStoreError) {
      try page.write(batch)
    } catch {
      throw .engine(error)
    }
    batch.removeAll()
    batches += 1
    operations += linesInBatch
    linesInBatch = 0
  }

  @inline(__always)
  private func add(_ operation: LineOperation, from buffer: UnsafeRawBufferPointer) throws(LogStoreError) {
    let key = unsafe LentBytes(buffer, operation.key)
    switch operation.kind {
    case .put:
      try unsafe batch.put(LentBytes(buffer, operation.value), for: key)
    case .putBefore:
      try unsafe batch.put(
        LentBytes(buffer, operation.value), for: key, before: LentBytes(buffer, operation.before))
    case .remove:
      try batch.remove(key)
    case .move:
      try unsafe batch.move(key, before: LentBytes(buffer, operation.before))
    case .moveToEnd:
      try batch.moveToEnd(key)
    case .clear:
      try batch.clear()
    }
  }
}

/// A piece of the input, lent to the engine for the length of a call.
///
/// Safe because it lives only inside ``Loader/add(_:from:)-swift.method``, while the buffer does.
@safe
private struct LentBytes: ByteSource {
  private let bytes: UnsafeRawBufferPointer

  init(_ buffer: UnsafeRawBufferPointer, _ slice: Slice) {
    unsafe bytes = UnsafeRawBufferPointer(rebasing: buffer[slice.start..<(slice.start + slice.count)])
  }

  func withByteSpan<Result, Failure: Error>(
    _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try unsafe body(RawSpan(_unsafeBytes: bytes))
  }
}
