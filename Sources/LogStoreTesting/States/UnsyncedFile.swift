/// A file with writes that a power cut may undo.
struct UnsyncedFile {
  var number: UInt64
  /// What the medium is sure to hold.
  var base: [UInt8]
  /// In order.
  var writes: [DiskFile.Write]
  /// What stood there before.
  var older: [UInt8]
  /// What removed files held.
  var removed: [[UInt8]]

  init(_ number: UInt64, _ file: DiskFile, _ profile: CrashProfile, removed: [[UInt8]]) {
    self.number = number
    older = file.older
    self.removed = removed
    (base, writes) = (file.durable, file.pending)
    if !profile.orderedSyncsAreDurable, let handed = file.handed {
      base = handed.medium
      writes = handed.writes + file.pending
    }
    if profile == .ordered || profile == .strict { splitAtTheEnd() }
  }

  /// In place and growth are different things where growth is ordered and the rest is not.
  private mutating func splitAtTheEnd() {
    writes = writes.flatMap { write -> [DiskFile.Write] in
      guard write.offset < base.count, write.end > base.count else { return [write] }
      let place = base.count - write.offset
      var (front, back) = (write, write)
      front.bytes = Array(write.bytes[..<place])
      back.offset = base.count
      back.bytes = Array(write.bytes[place...])
      return [front, back]
    }
  }

  /// Whether a write arrives in order with others, and not piece by piece.
  func isInOrder(_ write: DiskFile.Write, _ profile: CrashProfile) -> Bool {
    switch profile {
    case .strict, .writeback, .appleFsync: false
    case .ordered: write.offset >= base.count
    case .reorderedNames: true
    }
  }

  /// What the medium holds if this has become of each write.
  func content(_ fates: [WriteFate]) -> [UInt8] {
    var bytes = base
    for (write, fate) in zip(writes, fates) { fate.apply(write, to: &bytes, self) }
    return bytes
  }
}

/// One content that a file may have after a crash.
struct FileOutcome {
  var bytes: [UInt8]
  /// Of the bytes and the file's number.
  var hash: UInt64

  init(_ number: UInt64, _ bytes: [UInt8]) {
    self.bytes = bytes
    hash = ContentHash(bytes, seed: number).value
  }
}
