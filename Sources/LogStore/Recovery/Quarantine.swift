/// Bytes of a journal that no state takes in and that are no mere zeros: kept aside until somebody has looked at them.
struct QuarantineRange: Hashable, Sendable {
  var generation: UInt64
  var range: Range<UInt64>

  var name: String { PageFile.quarantine(generation, offset: range.lowerBound).name }
}

struct Quarantine {
  let directory: any StorageDirectory
  let level: Durability

  /// Copies the bytes into a file of their own, durably, unless they are there already or are all zeros. Where an earlier
  /// opening has set aside fewer from the same place on, those that are missing go into another.
  /// The directory is synced by the caller.
  func keep(_ range: QuarantineRange, from source: any StorageFile) throws(LogStoreError) {
    var wanted = range
    let isNeeded = try mapped { () throws(StorageError) in
      while !wanted.range.isEmpty, let status = try directory.status(of: wanted.name) {
        guard status.size > 0 else {
          try directory.remove(wanted.name)
          break
        }
        wanted.range = min(wanted.range.lowerBound + status.size, wanted.range.upperBound)..<wanted.range.upperBound
      }
      return try !isZero(wanted.range, source)
    }
    guard isNeeded else { return }
    let temporary = wanted.name + ".tmp"
    do throws(StorageError) {
      try copy(wanted.range, from: source, to: temporary)
      try directory.rename(temporary, to: wanted.name)
    } catch {
      // The copy is no use half done; the original is still there.
      do { try directory.remove(temporary) } catch {}
      throw LogStoreError(error)
    }
  }

  private func isZero(_ range: Range<UInt64>, _ source: any StorageFile) throws(StorageError) -> Bool {
    var isZero = true
    try unsafe forEachPiece(of: range, source) { bytes, _ in
      isZero = unsafe bytes.allSatisfy { $0 == 0 }
      return isZero
    }
    return isZero
  }

  private func copy(_ range: Range<UInt64>, from source: any StorageFile, to name: String) throws(StorageError) {
    let file = try directory.createTemporary(name)
    defer { file.close() }
    try unsafe forEachPiece(of: range, source) { (bytes, place) throws(StorageError) in
      var written = 0
      try unsafe file.writeFully(bytes, at: place - range.lowerBound, written: &written)
      return true
    }
    try file.sync(level)
  }

  /// Calls `body` with the bytes of `range` and their place, as far as the file still has them, until it returns false.
  private func forEachPiece(
    of range: Range<UInt64>, _ source: any StorageFile,
    _ body: (UnsafeRawBufferPointer, UInt64) throws(StorageError) -> Bool
  ) throws(StorageError) {
    let window = FileWindow(source, limit: range.upperBound)
    var place = range.lowerBound
    while place < range.upperBound {
      let bytes = try unsafe window.bytes(at: place, count: 1)
      guard bytes.count > 0, try unsafe body(bytes, place) else { return }
      place += UInt64(bytes.count)
    }
  }
}
