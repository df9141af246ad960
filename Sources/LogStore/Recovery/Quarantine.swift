/// Bytes of a journal that no state takes in and that are no mere zeros: kept aside until somebody has looked at them.
struct QuarantineRange: Hashable, Sendable {
  var generation: UInt64
  var range: Range<UInt64>

  var name: String { PageFile.quarantine(generation, offset: range.lowerBound).name }
}

struct Quarantine {
  let directory: any StorageDirectory
  let level: Durability

  /// Copies the bytes into a file of their own, durably, unless they are there already or are all zeros.
  /// The directory is synced by the caller.
  func keep(_ wanted: QuarantineRange, from source: any StorageFile) throws(LogStoreError) {
    let isNeeded = try mapped { () throws(StorageError) in
      if try isKept(wanted) { return false }
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

  private func isKept(_ wanted: QuarantineRange) throws(StorageError) -> Bool {
    guard let status = try directory.status(of: wanted.name) else { return false }
    return status.size >= UInt64(wanted.range.count)
  }

  private func isZero(_ range: Range<UInt64>, _ source: any StorageFile) throws(StorageError) -> Bool {
    let window = FileWindow(source, limit: range.upperBound)
    var place = range.lowerBound
    while place < range.upperBound {
      let bytes = try unsafe window.bytes(at: place, count: 1)
      if bytes.count == 0 { return true }
      for index in 0..<bytes.count where unsafe bytes[index] != 0 { return false }
      place += UInt64(bytes.count)
    }
    return true
  }

  private func copy(_ range: Range<UInt64>, from source: any StorageFile, to name: String) throws(StorageError) {
    if try directory.status(of: name) != nil { try directory.remove(name) }
    let file = try directory.open(name, .createNew)
    defer { file.close() }
    let window = FileWindow(source, limit: range.upperBound)
    var place = range.lowerBound
    while place < range.upperBound {
      let bytes = try unsafe window.bytes(at: place, count: 1)
      if bytes.count == 0 { break }
      var written = 0
      try unsafe file.writeFully(bytes, at: place - range.lowerBound, written: &written)
      place += UInt64(bytes.count)
    }
    try file.sync(level)
  }
}
